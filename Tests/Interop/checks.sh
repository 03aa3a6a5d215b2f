# The checks, which Tests/Interop/run sources. shellcheck shell=bash disable=SC2154

echo '== nginx, HTTP/1.1'
check 'a JSON file' 0 'body == fixture("user.json") and r["status"] == 200 and log()[0]["protocol"] == "HTTP/1.1"' \
  "$plain/user.json"
check 'gzip, decoded' 0 'body == fixture("large.json") and log()[0]["coding"] == "gzip"
  and log()[0]["sent"] < r["bytes"]' "$plain/gzip/large.json"
# Some builds of libcurl lack zstd. All support these two.
check 'gzip and br are offered' 0 'all(x in log()[0]["accepts"] for x in ("gzip", "br"))' "$plain/user.json"
check '--raw: the bytes unchanged' 0 'json.loads(raw) == fixture("user.json")' --raw "$plain/user.json"
check 'the envelope is unwrapped' 0 'body == fixture("user.json")["data"]' \
  --envelope code,message,data "$plain/user.json"
check 'an envelope with other keys, and a path in it' 0 'body == [{"id": 1}, {"id": 2}]' \
  --envelope status=0,msg,result --at items "$plain/shop.json"
check 'an error in the envelope' 1 'error["kind"] == "rejected" and error["code"] == 40301 and error["message"] == "请先登录"' \
  --envelope code,message,data "$plain/refused.json"
check 'pages are followed to the end' 0 '[x["body"] for x in results] == [[1, 2], [3, 4], [5]]' \
  --follow-pages "$plain/feed?cursor="
check 'HTML instead of JSON' 1 'error["kind"] == "parse"' --envelope code,message,data "$plain/page.html"
check 'an empty body instead of JSON' 1 'error["kind"] == "parse"' --envelope code,message,data "$plain/empty.json"
check 'truncated JSON' 1 'error["kind"] == "parse"' --envelope code,message,data "$plain/cut.json"
check 'HEAD' 0 'r["status"] == 200 and r["bytes"] == 0' -X HEAD "$plain/user.json"
check '404' 1 'error["kind"] == "status" and error["code"] == 404 and r["status"] == 404' "$plain/none.json"
check '20 consecutive requests share a connection' 0 'len(results) == 20 and len({x["connection"] for x in log()}) == 1' \
  --concurrency 1 $(printf "$plain/user.json?%s " $(seq 20))
check '200 concurrent requests, at most 8 connections' 0 \
  'each(results, lambda x: x["status"] == 200) and len(results) == 200 and len({x["connection"] for x in log()}) <= 8' \
  $(printf "$plain/user.json?%s " $(seq 200))
check 'a refused connection' 1 'error["kind"] == "connection" and error["code"] == -1212' "http://127.0.0.1:$refused_port/"
check 'an unknown host' 1 'error["kind"] == "unknownHost"' http://nowhere.invalid/

echo '== nginx, over TLS'
check 'the private CA' 0 'body == fixture("user.json") and log()[0]["protocol"] == "HTTP/1.1"' \
  --cacert "$work/ca.pem" "$tls/user.json"
check 'by name' 0 'body == fixture("user.json") and log()[0]["protocol"] == "HTTP/1.1"' \
  --cacert "$work/ca.pem" "https://localhost:$tls_port/user.json"
check 'gzip over TLS' 0 'body == fixture("large.json") and log()[0]["coding"] == "gzip"
  and log()[0]["protocol"] == "HTTP/1.1"' --cacert "$work/ca.pem" "$tls/gzip/large.json"
check '100 concurrent requests' 0 \
  'len(results) == 100 and each(results, lambda x: x["status"] == 200) and len(log()) == 100' \
  --cacert "$work/ca.pem" --concurrency 100 $(printf "$tls/user.json?%s " $(seq 100))
check 'without the CA' 1 'error["kind"] == "tls" and not log()' "$tls/user.json"
check 'a certificate for another host' 1 'error["kind"] == "tls" and not log()' \
  --cacert "$work/ca.pem" "https://127.0.0.1:$other_port/user.json"
check 'an expired certificate' 1 'error["kind"] == "tls" and not log()' \
  --cacert "$work/ca.pem" "https://127.0.0.1:$expired_port/user.json"
check 'https to a port without TLS' 1 'error["kind"] == "tls"' --cacert "$work/ca.pem" "https://127.0.0.1:$plain_port/"
check 'http to a port with TLS' 1 'error["kind"] == "status" and error["code"] == 400' "http://127.0.0.1:$tls_port/"
check 'a redirect from https to http' 1 'error["kind"] == "redirect"' --cacert "$work/ca.pem" "$tls/down"
check 'an invalid CA file' 1 'error["kind"] == "tls"' --cacert "$work/nginx.conf" "$tls/user.json"


echo '== httpbin behind nginx, over TLS'
head -c 300000 /dev/urandom > "$work/upload"
check 'JSON in a body' 0 'body["json"] == {"a": 1} and log()[0]["protocol"] == "HTTP/1.1"' \
  --cacert "$work/ca.pem" -d '{"a":1}' "$tls/httpbin/post"
check '300,000 bytes of a file' 0 'base64.b64decode(body["data"].split(",")[1]) == upload()' \
  --cacert "$work/ca.pem" -H 'Content-Type: application/octet-stream' --data-file "$work/upload" "$tls/httpbin/post"
check 'a timeout in the middle of a body' 1 'error["kind"] == "timeout" and r["ms"] < 1500' \
  --cacert "$work/ca.pem" --timeout 0.5 "$tls/httpbin/drip?numbytes=10&duration=3&delay=0"
check 'a slow response does not delay others' 0 'results[0]["url"].endswith("/get") and results[0]["ms"] < 900' \
  --cacert "$work/ca.pem" "$tls/httpbin/delay/1" "$tls/httpbin/get"
check 'a gateway whose server is down' 1 'error["kind"] == "status" and error["code"] == 502' \
  --cacert "$work/ca.pem" "$tls/gone/"

echo '== httpbin'
check '/get' 0 'body["args"] == {"a": "1", "b": "北 京"} and body["url"].endswith("/get?a=1&b=北%20京")' \
  "$httpbin/get?a=1&b=%E5%8C%97%20%E4%BA%AC"
check '/get, an unescaped query' 0 'body["args"] == {"q": "北京"}' "$httpbin/get?q=北京"
check '/post, JSON' 0 'body["data"] == "{\"a\":[1,null,\"é\"]}" and body["json"] == {"a": [1, None, "é"]}
  and body["headers"]["Content-Type"] == "application/json" and body["headers"]["Content-Length"] == "19"' \
  -d '{"a":[1,null,"é"]}' "$httpbin/post"
check '/post, a form' 0 'body["form"] == {"a": "1 2", "b": "北"} and body["data"] == ""
  and body["headers"]["Content-Type"] == "application/x-www-form-urlencoded"' \
  -d 'a=1+2&b=%E5%8C%97' "$httpbin/post"
check '/post, the caller sets Content-Type' 0 \
  'body["data"] == "{}" and body["headers"]["Content-Type"] == "application/vnd.api+json"' \
  -H 'Content-Type: application/vnd.api+json' -d '{}' "$httpbin/post"
check '/post, 300,000 bytes of a file' 0 \
  'base64.b64decode(body["data"].split(",")[1]) == upload()' \
  -H 'Content-Type: application/octet-stream' --data-file "$work/upload" "$httpbin/post"
check '/post, no body' 0 'body["data"] == "" and body["headers"].get("Content-Length", "0") == "0"' -X POST "$httpbin/post"
for method in put patch delete; do
  check "/$method" 0 'body["json"] == {"a": 1} and body["data"] == "{\"a\":1}"' \
    -X "${method^^}" -d '{"a":1}' "$httpbin/$method"
done
check '/delete, no body' 0 'body["data"] == "" and "Content-Type" not in body["headers"]' -X DELETE "$httpbin/delete"
check '/anything, TRACE' 0 'body["method"] == "TRACE"' -X TRACE "$httpbin/anything"
for status in 204 404 418 500 503; do
  if [ $status = 204 ]; then
    check "/status/$status" 0 'r["status"] == 204 and r["bytes"] == 0' "$httpbin/status/$status"
  else
    check "/status/$status" 1 'r["status"] == '$status' and error["kind"] == "status" and error["code"] == '$status \
      "$httpbin/status/$status"
  fi
done
check '/delay/1' 0 '1000 <= r["ms"] < 5000' "$httpbin/delay/1"
check '/delay/1 with 0.3 s' 1 'error["kind"] == "timeout" and error["code"] == -1212 and 300 <= r["ms"] < 900' \
  --timeout 0.3 "$httpbin/delay/1"
check '8 concurrent requests to /delay/1' 0 'len(results) == 8 and max(x["ms"] for x in results) < 1900' \
  $(printf "$httpbin/delay/1?%s " $(seq 8))
check '/gzip' 0 'body["gzipped"] is True' "$httpbin/gzip"
check '/deflate' 0 'body["deflated"] is True' "$httpbin/deflate"
check '/brotli' 0 'body["brotli"] is True and "br" in body["headers"]["Accept-Encoding"]' "$httpbin/brotli"
check '/redirect/3' 0 'body["url"] == "'"$httpbin"'/get"' "$httpbin/redirect/3"
check '/absolute-redirect/3' 0 'body["url"] == "'"$httpbin"'/get"' "$httpbin/absolute-redirect/3"
check '/redirect/11: at most ten' 1 'error["kind"] == "redirect"' "$httpbin/redirect/11"
check '/redirect-to, the same origin keeps Authorization' 0 'body["headers"]["Authorization"] == "Bearer secret"' \
  -H 'Authorization: Bearer secret' "$httpbin/redirect-to?url=/headers"
check '/redirect-to, another origin gets neither Authorization nor Cookie' 0 \
  'body == {"authorization": "", "cookie": "", "method": "GET"} and log()[0]["authorization"] == ""' \
  -H 'Authorization: Bearer secret' -H 'Cookie: a=1' "$httpbin/redirect-to?url=$plain/seen"
check '/redirect-to, 302 turns POST into GET' 0 'body["args"] == {} and body["url"].endswith("/get")' \
  -d '{"a":1}' "$httpbin/redirect-to?url=/get&status_code=302"
check '/redirect-to, 307 keeps method and body' 0 'body["json"] == {"a": 1}' \
  -d '{"a":1}' "$httpbin/redirect-to?url=/post&status_code=307"
check '/redirect-to, 308 keeps method and body' 0 'body["json"] == {"a": 1}' \
  -X PUT -d '{"a":1}' "$httpbin/redirect-to?url=/put&status_code=308"
check '/redirect-to, a scheme that is not followed' 1 'error["kind"] == "redirect"' \
  "$httpbin/redirect-to?url=file:///etc/passwd"
check '/basic-auth' 0 'body == {"authenticated": True, "user": "ada"}' \
  -H "Authorization: Basic $(printf 'ada:lovelace' | base64)" "$httpbin/basic-auth/ada/lovelace"
check '/basic-auth without credentials' 1 'error["kind"] == "status" and error["code"] == 401' \
  "$httpbin/basic-auth/ada/lovelace"
check '/basic-auth, credentials in the URL' 0 'body == {"authenticated": True, "user": "ada"}' \
  "${httpbin/\/\////ada:lovelace@}/basic-auth/ada/lovelace"
check '/bearer' 0 'body == {"authenticated": True, "token": "t"}' -H 'Authorization: Bearer t' "$httpbin/bearer"
check '/stream/5' 0 '[json.loads(x)["id"] for x in body.splitlines()] == [0, 1, 2, 3, 4]' "$httpbin/stream/5"
check '/bytes/100000' 0 'r["bytes"] == 100000 and len(base64.b64decode(r["base64"])) == 100000' "$httpbin/bytes/100000"
check '/bytes/100000, --raw' 0 'len(raw) == 100000' --raw "$httpbin/bytes/100000"
check '/stream-bytes/100000, chunked' 0 'len(raw) == 100000' --raw "$httpbin/stream-bytes/100000?chunk_size=1000"
check '/drip' 0 'r["bytes"] == 10 and body == "**********" and r["ms"] >= 900' "$httpbin/drip?numbytes=10&duration=1&delay=0"
check '/drip, a timeout in the middle of the body' 1 'error["kind"] == "timeout" and r["ms"] < 1500' \
  --timeout 0.5 "$httpbin/drip?numbytes=10&duration=3&delay=0"
check '/cookies' 0 'body["cookies"] == {"a": "1", "b": "2"}' -H 'Cookie: a=1; b=2' "$httpbin/cookies"
check '/cookies/set: no cookie is stored' 0 'body["cookies"] == {}' "$httpbin/cookies/set?a=1"
check '/headers' 0 '{k: v for k, v in body["headers"].items() if k in ("X-One", "X-Two", "X-Empty", "Accept")}
  == {"X-One": "a, b; c=\"d\"", "X-Two": "1,2", "X-Empty": "", "Accept": "text/plain"}' \
  -H 'X-One: a, b; c="d"' -H 'X-Two: 1' -H 'X-Two: 2' -H 'X-Empty:' -H 'Accept: text/plain' "$httpbin/headers"
check '/user-agent' 0 'body["user-agent"] == "interop/1"' -H 'User-Agent: interop/1' "$httpbin/user-agent"
check '/encoding/utf8' 0 '"∮ E⋅da = Q" in body' "$httpbin/encoding/utf8"
check '/html' 0 'body.startswith("<!DOCTYPE html>")' "$httpbin/html"
check '/image/png' 0 'base64.b64decode(r["base64"])[:4] == b"\x89PNG"' "$httpbin/image/png"
check 'URLs through a pipe' 0 'len(results) == 2 and each(results, lambda x: x["status"] == 200)' \
  - < <(printf '%s\n' "$httpbin/get" "$httpbin/json")
check '--retry: 503 is retried twice' 1 'error["code"] == 503 and len(log()) == 3' \
  --retry 2 --cacert "$work/ca.pem" "$tls/httpbin/status/503"
