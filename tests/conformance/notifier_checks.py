"""What receivers' own libraries say of messages: run by the Python of tools/notifier_python. Standard input is a JSON list of
{"check": NAME, ...}; it prints a complaint for each that is not in order."""

import base64
import json
import sys

import jsonschema
from cloudevents.core.bindings.http import HTTPMessage, from_structured
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent
from slack_sdk.models.blocks import Block
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

# developer.pagerduty.com/docs/events-api-v2/trigger-events, as a schema.
TEXT = {"type": "string", "minLength": 1}
PAGERDUTY = {
    "type": "object",
    "required": ["routing_key", "event_action"],
    "additionalProperties": False,
    "properties": {
        "routing_key": {"type": "string", "minLength": 32, "maxLength": 32},
        "event_action": {"enum": ["trigger", "acknowledge", "resolve"]},
        "dedup_key": {"type": "string", "minLength": 1, "maxLength": 255},
        "payload": {
            "type": "object",
            "required": ["summary", "source", "severity"],
            "additionalProperties": False,
            "properties": {
                "summary": TEXT | {"maxLength": 1024}, "source": TEXT, "severity": {"enum": ["critical", "error", "warning", "info"]},
                "timestamp": TEXT | {"format": "date-time", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"},
                "component": TEXT, "group": TEXT, "class": TEXT, "custom_details": {"type": "object"}}},
        "links": {"type": "array", "items": {"type": "object", "required": ["href"], "properties": {"href": {"pattern": "^https?://"}}}},
        "images": {"type": "array"}, "client": TEXT, "client_url": {"pattern": "^https?://"}},
    "allOf": [{"if": {"properties": {"event_action": {"const": "trigger"}}}, "then": {"required": ["payload"]},
               "else": {"required": ["dedup_key"], "not": {"required": ["payload"]}}}]}
SLACK_TEXTS = {"header": 150, "section": 3000, "context": 3000}


def pagerduty(event):
    jsonschema.Draft202012Validator(PAGERDUTY).validate(event)
    assert len(json.dumps(event)) <= 512_000
    assert event["dedup_key"].isprintable()


def slack(body):
    assert len(body["text"]) <= 4000, "the text for notifications is long"
    total = 0
    for block in body.get("blocks", []):
        parsed = Block.parse(block)
        assert parsed is not None, f"an unknown block {block}"
        parsed.validate_json()
        texts = [element["text"] for element in block["elements"]] if block["type"] == "context" else [block["text"]["text"]]
        for text in texts:
            assert 0 < len(text) <= SLACK_TEXTS[block["type"]], f"{len(text)} characters in a {block['type']}"
            total += len(text)
        if block["type"] != "header":
            for forged in ("<!channel>", "<!here>", "<@U", "<https://evil"):
                assert forged not in json.dumps(block, ensure_ascii=False), forged
    assert total <= 8000 and len(body.get("blocks", [])) <= 50


def webhook(body, headers, keys, stranger):
    raw = base64.b64decode(body)
    assert len(raw) <= 20_000
    for key in keys:
        Webhook(key).verify(raw, headers)
    for wrong in ((Webhook(stranger), raw), (Webhook(keys[0]), raw + b" ")):
        try:
            wrong[0].verify(wrong[1], headers)
        except WebhookVerificationError:
            continue
        raise AssertionError("a wrong signature is right")
    event = from_structured(HTTPMessage(headers=headers, body=raw), JSONFormat(), CloudEvent)
    assert event.get_specversion() == "1.0" and event.get_id() == headers["webhook-id"]
    assert event.get_type().startswith("dev.spotter.incident.") and event.get_time() is not None
    assert event.get_data()["version"] == 1


CHECKS = {"pagerduty": pagerduty, "slack": slack, "webhook": webhook}
for number, one in enumerate(json.load(sys.stdin)):
    check = CHECKS[one.pop("check")]
    try:
        check(**one)
    except Exception as wrong:  # of any library
        print(f"{number} ({check.__name__}): {type(wrong).__name__}: {str(wrong)[:500]}")
