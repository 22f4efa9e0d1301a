"""Lints the chart and renders it with Helm's own code: pip install helm-python-sdk==0.2.2 pyyaml; python check.py"""

import pathlib
import tomllib

import helm_python
import yaml

CHART = pathlib.Path(__file__).parent / "portolan"
URL = {"publicUrl": "https://agents.example.org"}
SHARED = {"secrets": {"database": "database", "keys": "keys", "operator": "operator"}}


def render(values):
    rendered = helm_python.Chart.load(CHART).render(values, name="portolan", namespace="default")
    documents = [document for text in rendered.values() for document in yaml.safe_load_all(text)]
    return {document["kind"]: document for document in documents if document}


def refuses(values, reason):
    try:
        render(values)
    except helm_python.HelmError as error:
        assert reason in str(error), error
    else:
        raise AssertionError(f"{values} is not refused")


errors = helm_python.lint(CHART, URL, strict=True)["errors"]
assert not errors, errors
refuses({}, "set publicUrl")
refuses(URL | {"replicas": 3}, "secrets.database")
refuses(URL | {"replicas": 3, "secrets": {"database": "database"}}, "secrets.keys")

one = render(URL)
assert set(one) == {"ConfigMap", "StatefulSet", "Service"}, one.keys()
FOLDER = "[media]\nfolder = \"/shared/media\"\n"
S3 = """[media]
store = "s3"
[media.s3]
bucket = "portolan"
access_key = "key"
secret_file = "/etc/portolan-s3/secret"
"""
SECRET = {"name": "s3", "secret": {"secretName": "portolan-s3", "defaultMode": 0o440}}
SHARE = {"name": "shared", "persistentVolumeClaim": {"claimName": "shared"}}


def mounted(name, volume, path):
    return {"volumes": [volume], "volumeMounts": [{"name": name, "mountPath": path}]}


def has_its_files(rendered):
    """Tells whether the files and folders of the configuration lie in a volume of the pod."""
    pod = rendered["StatefulSet"]["spec"]["template"]["spec"]
    mounts = pod["containers"][0]["volumeMounts"]
    names = [volume["name"] for volume in pod["volumes"]] + ["data"]
    assert all(mount["name"] in names for mount in mounts), (mounts, names)
    media = tomllib.loads(rendered["ConfigMap"]["data"]["portolan.toml"])["media"]
    paths = [media.get("folder"), media.get("s3", {}).get("secret_file")]
    below = lambda path: any(pathlib.PurePath(path).is_relative_to(mount["mountPath"]) for mount in mounts)
    return all(below(path) for path in paths if path)


refuses(URL | SHARED | {"replicas": 3}, "[media]")
refuses(URL | SHARED | {"replicas": 3, "config": "[media]\nstore = \"file\"\n[quotas]\nfolder = 1\n"}, "[media]")
render(URL | SHARED | {"replicas": 3, "config": "[quotas]\n\n[media]\nupload_bytes = 1\nstore = \"s3\"\n"})
bucket = URL | SHARED | {"replicas": 3, "config": S3}
assert not has_its_files(render(bucket))
bucket = render(bucket | mounted("s3", SECRET, "/etc/portolan-s3"))
assert has_its_files(bucket)
pod = bucket["StatefulSet"]["spec"]["template"]["spec"]
assert SECRET in pod["volumes"] and pod["volumes"][0]["name"] == "config", pod["volumes"]
assert {"name": "s3", "mountPath": "/etc/portolan-s3"} in pod["containers"][0]["volumeMounts"]
several = URL | SHARED | {"replicas": 3, "config": f"[quotas]\nquery_ms = 300\n{FOLDER}"}
several = render(several | mounted("shared", SHARE, "/shared"))
assert has_its_files(several)
assert "PodDisruptionBudget" in several
configuration = several["ConfigMap"]["data"]["portolan.toml"]
assert "stop_delay_ms = 10000" in configuration and "query_ms = 300" in configuration
pod = several["StatefulSet"]["spec"]["template"]["spec"]
assert pod["terminationGracePeriodSeconds"] > 30
container = pod["containers"][0]
assert container["securityContext"]["readOnlyRootFilesystem"] is True
assert [source["secretRef"]["name"] for source in container["envFrom"]] == ["database", "keys", "operator"]
for probe, path in [("startupProbe", "/startupz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")]:
    assert container[probe]["httpGet"] == {"path": path, "port": "operator"}, probe
print("the chart is valid")
