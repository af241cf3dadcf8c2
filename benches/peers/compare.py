#!/usr/bin/env python3
"""Runs polyview and its peers on the same data, one after the other, and prints tables.

    python3 benches/peers/compare.py [speed] [quality] [sweeps] [--cases S M W L T]

Needs nothing but Python 3 and Cargo: makes a virtual environment with the peers
(requirements.txt), generates the data (gen_data.py, about 1 GB for all cases) and builds the
program that fits a case, all under target/peers. One thread each; times are processor time.

    speed    milliseconds a sweep at the full number of factors and peak memory: complete data
             against cca_zoo's GFA and mofapy2, 20 % missing against mofapy2. Program and peer
             alternate; the smallest of three runs counts (of one, where the peer takes long).
    quality  20 % missing: held-out R2 at convergence, and seconds to 99.9 % of the best of it
    sweeps   sweeps to convergence with and without rotation
    mofa     MOFA with spike-and-slab weights against mofapy2: milliseconds a sweep at the full
             number of factors and peak memory, complete and with 20 % missing
    mofa-time  20 % missing: seconds until every view's held-out error is at most that of
             mofapy2 run to its end in its mode `slow`
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "target" / "peers"
DATA = WORK / "data"
PYTHON = WORK / "venv" / "bin" / "python"
REPEATS = 3
FULL_K = 12  # sweeps of a speed run: before programs drop factors
MOFA = ["--model", "mofa", "--noise", "feature"]
STEPS = [1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320]
PEER_STEPS = [n for n in STEPS if n >= 5]  # mofapy2 looks at its bound every five iterations


def prepare(cases):
    if not PYTHON.exists():
        venv.create(WORK / "venv", with_pip=True)
        subprocess.run([PYTHON, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
    absent = [c for c in cases if not (DATA / c / "meta.json").exists()]
    if absent:
        subprocess.run([PYTHON, HERE / "gen_data.py", DATA, *absent], check=True)
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "polyview-benches", "--bin", "case"],
                   cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    return pathlib.Path(target) / "release" / "case"


def last_line(command, **options):
    run = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, text=True, check=True, **options)
    return json.loads(run.stdout.strip().splitlines()[-1])


def ours(case_program, case, missing, sweeps, *more):
    r = last_line([case_program, DATA / case, "--missing", missing, "--max-sweeps", sweeps, *more])
    return {"ms": 1e3 * (r["iter_cpu_at_full_k"] or float("nan")), "mb": r["peak_rss_mb"], "data_mb": r["rss_data_mb"],
            "seconds": r["cpu_s"], "sweeps": r["n_iter"], "views": r["views"], "stop": r["stop"]}


def peer(name, case, missing, sweeps, budget=600):
    out = WORK / "peer.jsonl"
    out.unlink(missing_ok=True)
    subprocess.run([str(c) for c in [PYTHON, HERE / "run_peer.py", name, DATA / case, "--missing", missing,
                                     "--threads", 1, "--max-iter", sweeps, "--budget", budget, "--out", out]],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    r = json.loads(out.read_text().strip().splitlines()[-1])
    return {"ms": 1e3 * r["iter_cpu_mean"], "mb": r["peak_rss_mb"], "data_mb": r["rss_data_mb"],
            "seconds": r["cpu_s"] + r.get("setup_s", 0.0), "sweeps": r["n_iter"], "views": r["views"],
            "stop": r["stop"]}


def held(run):
    return [v["r2_held"] for v in run["views"]]


def speed(program, cases):
    print("| case | missing | peer | peer ms | polyview ms | ratio | peer MB | polyview MB (after reading) |")
    print("|---|---|---|---|---|---|---|---|")
    for case in cases:
        for missing, name in [(0, "cca-gfa"), (0, "mofapy2"), (20, "mofapy2")]:
            # GFA has one noise precision a view, mofapy2 one a feature
            noise = "view" if name == "cca-gfa" else "feature"
            theirs, mine = [], []
            for _ in range(REPEATS):
                theirs.append(peer(name, case, missing, FULL_K, budget=30))
                mine.append(ours(program, case, missing, FULL_K, "--noise", noise))
                if theirs[-1]["seconds"] > 20:
                    break
            a, b = min(theirs, key=lambda r: r["ms"]), min(mine, key=lambda r: r["ms"])
            print(f"| {case} | {missing} % | {name} | {a['ms']:.2f} | {b['ms']:.2f} | {b['ms'] / a['ms']:.3f} "
                  f"| {a['mb']:.0f} | {b['mb']:.0f} ({b['data_mb']:.0f}) |", flush=True)


def seconds_to(target, run, steps):
    for n in steps:
        r = run(n)
        if sum(held(r)) / len(held(r)) >= target:
            return f"{r['seconds']:.2f} ({r['sweeps']} sweeps)"
    return "not reached"


def quality(program, cases):
    print("| case | program | held-out R2 by view | sweeps | seconds | seconds to 99.9 % of the best |")
    print("|---|---|---|---|---|---|")
    for case in cases:
        slow = case in ("L", "T")
        runs = {"polyview": lambda n: ours(program, case, 20, n),
                "polyview, noise by feature": lambda n: ours(program, case, 20, n, "--noise", "feature"),
                "mofapy2": lambda n: peer("mofapy2", case, 20, n)}
        full = {name: run(30 if slow and name == "mofapy2" else 2000) for name, run in runs.items()}
        best = max(sum(held(r)) / len(held(r)) for r in full.values())
        for name, run in runs.items():
            r = full[name]
            scores = " ".join(f"{x:.4f}" for x in held(r))
            if name == "mofapy2" and slow:  # each step would be a run of minutes
                reached = "not searched"
            else:
                reached = seconds_to(0.999 * best, run, PEER_STEPS if name == "mofapy2" else STEPS)
            print(f"| {case} | {name} | {scores} | {r['sweeps']} | {r['seconds']:.2f} | {reached} |", flush=True)


def sweeps(program, cases):
    print("| case | sweeps with rotation | without |")
    print("|---|---|---|")
    for case in cases:
        with_rotation = ours(program, case, 0, 5000)["sweeps"]
        without = ours(program, case, 0, 5000, "--no-rotation")["sweeps"]
        print(f"| {case} | {with_rotation} | {without} |", flush=True)


def mofa(program, cases):
    print("| case | missing | mofapy2 ms | polyview ms | times faster | mofapy2 MB | polyview MB | share |")
    print("|---|---|---|---|---|---|---|---|")
    for case in cases:
        for missing in (0, 20):
            theirs, mine = [], []
            for _ in range(REPEATS):
                theirs.append(peer("mofapy2", case, missing, FULL_K, budget=30))
                mine.append(ours(program, case, missing, FULL_K, *MOFA))
                if theirs[-1]["seconds"] > 20:
                    break
            a, b = min(theirs, key=lambda r: r["ms"]), min(mine, key=lambda r: r["ms"])
            print(f"| {case} | {missing} % | {a['ms']:.2f} | {b['ms']:.2f} | {a['ms'] / b['ms']:.1f} "
                  f"| {a['mb']:.0f} | {b['mb']:.0f} | {b['mb'] / a['mb']:.2f} |", flush=True)


def errors(run):
    """The held-out error of each view: log loss, deviance or 1 - R2."""
    return [v.get("logloss_held") or v.get("deviance_held") or 1 - v["r2_held"] for v in run["views"]]


def mofa_time(program, cases):
    print("| case | mofapy2 slow: errors | iterations | seconds | polyview: errors | sweeps | seconds | times faster |")
    print("|---|---|---|---|---|---|---|---|")
    for case in cases:
        a = peer("mofapy2-slow", case, 20, 5000, budget=1500)
        wanted = errors(a)
        for n in [*STEPS, 640, 1280, 3000]:
            b = ours(program, case, 20, n, *MOFA)
            if all(x <= y for x, y in zip(errors(b), wanted)):
                break
        reached = all(x <= y for x, y in zip(errors(b), wanted))
        ratio = f"{a['seconds'] / b['seconds']:.0f}" if reached else "not reached"
        text = [" ".join(f"{x:.4f}" for x in e) for e in (wanted, errors(b))]
        print(f"| {case} | {text[0]} | {a['sweeps']} ({a['stop']}) | {a['seconds']:.1f} | {text[1]} "
              f"| {b['sweeps']} | {b['seconds']:.2f} | {ratio} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tables = {"speed": speed, "quality": quality, "sweeps": sweeps, "mofa": mofa, "mofa-time": mofa_time}
    parser.add_argument("tables", nargs="*", default=list(tables), help="which tables")
    parser.add_argument("--cases", nargs="+", default=["S", "M", "W", "L", "T"])
    args = parser.parse_args()
    unknown = [t for t in args.tables if t not in tables]
    if unknown:
        sys.exit(f"unknown table {unknown[0]}; there are {', '.join(tables)}")
    program = prepare(args.cases)
    for name in args.tables:
        print(f"\n### {name}\n")
        tables[name](program, args.cases)


if __name__ == "__main__":
    main()
