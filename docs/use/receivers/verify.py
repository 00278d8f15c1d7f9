"""Verifies an event of the gateway. Python 3.8 or newer, standard library only."""

import base64
import binascii
import hashlib
import hmac
import json
import time

TOLERANCE_SECONDS = 300


def verify_event(body: bytes, headers, secret: str, now=None) -> dict:
    """Returns the event, or raises ValueError.

    `body` is the request's body as it came (Flask: request.get_data(), Django: request.body);
    `headers` is a mapping of header names in lower case.
    """
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "")
    if not (event_id and timestamp and signatures):
        raise ValueError("a header is missing")
    if not (timestamp.isascii() and timestamp.isdigit()):
        raise ValueError("the timestamp is not a number")
    now = time.time() if now is None else now
    if abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("the timestamp is too far from now")
    key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret)
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = hmac.new(key, signed, hashlib.sha256).digest()
    # Several while a secret is rotated: one that matches is enough.
    for one in signatures.split(" "):
        version, _, signature = one.partition(",")
        try:
            given = base64.b64decode(signature, validate=True)
        except binascii.Error:
            continue
        if version == "v1" and hmac.compare_digest(given, expected):
            return json.loads(body)
    raise ValueError("no signature matches")
