# Starts the FastAPI application as the server behind a proxy: `plain` and `secure` are its URLs.
pypi fastapi "fastapi, hypercorn, multipart, requests, uvicorn" fastapi "uvicorn[standard]" hypercorn python-multipart requests
certificate server IP:127.0.0.1
plain_port=$(free_port) secure_port=$(free_port)
serve origin "$plain_port" "$python" -m uvicorn --app-dir "$here" --host 127.0.0.1 --port "$plain_port" fastapi_app:app
serve secure "$secure_port" "$python" -m uvicorn --app-dir "$here" --host 127.0.0.1 --port "$secure_port" \
  --ssl-certfile "$work/server.pem" --ssl-keyfile "$work/server.key" fastapi_app:app
plain=http://127.0.0.1:$plain_port secure=https://127.0.0.1:$secure_port
