"""httpbin with /parts, which returns the parts of a form that httpbin omits: names and types of files, and repeated fields."""

import base64

from flask import jsonify, request
from httpbin import app


@app.route("/parts", methods=["POST"])
def parts():
    fields = [{"name": name, "value": value} for name, value in request.form.items(multi=True)]
    files = [
        {
            "name": name, "filename": file.filename, "type": file.content_type, "note": file.headers.get("X-Note"),
            "base64": base64.b64encode(file.read()).decode(),
        }
        for name, file in request.files.items(multi=True)
    ]
    return jsonify(fields=fields, files=files)
