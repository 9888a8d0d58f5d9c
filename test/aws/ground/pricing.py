"""The Pricing API's GetProducts for Amazon EC2, from the same price table that fleets use."""

import json

from catalogue import instance_type, zones_by_type

LARGEST_PAGE = 100


def application(ground, prices):
    def respond(environ, start_response):
        raw = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        request = json.loads(raw or b"{}")
        action = environ["HTTP_X_AMZ_TARGET"].split(".")[-1]
        if action != "GetProducts":
            return _send(start_response, 400, {"__type": "InvalidParameterException", "message": f"no {action} here"})
        if request.get("ServiceCode") != "AmazonEC2":
            return _send(start_response, 400, {"__type": "NotFoundException", "message": "The service code is unknown"})
        found = [p for p in _products(ground.region, prices) if _passes(p, request.get("Filters", []))]
        start = int(request.get("NextToken") or 0)
        end = start + min(int(request.get("MaxResults") or LARGEST_PAGE), LARGEST_PAGE)
        answer = {"FormatVersion": "aws_v1", "PriceList": [json.dumps(_document(p)) for p in found[start:end]]}
        if end < len(found):
            answer["NextToken"] = str(end)
        return _send(start_response, 200, answer)

    return respond


def _send(start_response, status, answer):
    payload = json.dumps(answer).encode()
    headers = [("Content-Type", "application/x-amz-json-1.1"), ("Content-Length", str(len(payload)))]
    start_response(f"{status} {'OK' if status == 200 else 'Bad Request'}", headers)
    return [payload]


def _products(region, prices):
    for name in sorted(zones_by_type(region)):
        info = instance_type(name)
        metal = bool(info["BareMetal"])
        yield {
            "instanceType": name,
            "regionCode": region,
            "servicecode": "AmazonEC2",
            "serviceCode": "AmazonEC2",
            "tenancy": "Shared",
            "productFamily": "Compute Instance (bare metal)" if metal else "Compute Instance",
            "operatingSystem": "Linux",
            "preInstalledSw": "NA",
            "capacitystatus": "Used",
            "marketoption": "OnDemand",
            "operation": "RunInstances",
            "licenseModel": "No License required",
            "vcpu": str(info["VCpuInfo"]["DefaultVCpus"]),
            "memory": f"{info['MemoryInfo']['SizeInMiB'] / 1024:g} GiB",
            "usd": prices.on_demand(name),
        }
        if metal:
            # AWS lists bare metal both ways; callers use either.
            yield {
                "instanceType": name,
                "regionCode": region,
                "servicecode": "AmazonEC2",
                "serviceCode": "AmazonEC2",
                "tenancy": "Dedicated",
                "productFamily": "Compute Instance (bare metal)",
                "operatingSystem": "Linux",
                "preInstalledSw": "NA",
                "capacitystatus": "Used",
                "marketoption": "OnDemand",
                "operation": "RunInstances",
                "licenseModel": "No License required",
                "vcpu": str(info["VCpuInfo"]["DefaultVCpus"]),
                "memory": f"{info['MemoryInfo']['SizeInMiB'] / 1024:g} GiB",
                "usd": prices.on_demand(name),
            }


def _passes(product, filters):
    return all(
        str(product.get(f["Field"], "")) == f["Value"] for f in filters if f.get("Type", "TERM_MATCH") == "TERM_MATCH"
    )


def _document(product):
    sku = product["instanceType"].upper().replace(".", "") + product["tenancy"][0]
    attributes = {k: v for k, v in product.items() if k not in ("usd", "productFamily", "serviceCode")}
    term, rate = f"{sku}.JRTCKXETXF", f"{sku}.JRTCKXETXF.6YS6EN2CT7"
    return {
        "product": {"productFamily": product["productFamily"], "attributes": attributes, "sku": sku},
        "serviceCode": "AmazonEC2",
        "terms": {
            "OnDemand": {
                term: {
                    "priceDimensions": {
                        rate: {
                            "unit": "Hrs",
                            "endRange": "Inf",
                            "description": f"${product['usd']:.10f} per On Demand Linux {product['instanceType']} Instance Hour",
                            "appliesTo": [],
                            "rateCode": rate,
                            "beginRange": "0",
                            "pricePerUnit": {"USD": f"{product['usd']:.10f}"},
                        }
                    },
                    "sku": sku,
                    "effectiveDate": "2026-11-01T00:00:00Z",
                    "offerTermCode": "JRTCKXETXF",
                    "termAttributes": {},
                }
            }
        },
        "version": "20261101000000",
        "publicationDate": "2026-11-01T00:00:00Z",
    }
