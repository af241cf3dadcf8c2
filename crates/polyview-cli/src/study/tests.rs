use super::options::shape_option;
use super::*;

#[test]
fn view_options() {
    let v = view_option("genes=a/genes.csv:gaussian").ok();
    assert_eq!(
        v,
        Some((
            "genes".into(),
            "a/genes.csv".into(),
            Some("gaussian".into())
        ))
    );
    let v = view_option(r"g=C:\x\genes.csv").ok();
    assert_eq!(v, Some(("g".into(), r"C:\x\genes.csv".into(), None)));
    assert!(view_option("genes.csv").is_err());
    assert!(view_option("=x.csv").is_err());
}

#[test]
fn shape_options() {
    let of = |text| shape_option(text).ok();
    assert_eq!(of("pix=16x15"), Some(("pix".into(), [16, 15])));
    assert_eq!(of("a=b=2x3"), Some(("a=b".into(), [2, 3])));
    for bad in [
        "pix",
        "pix=16",
        "=16x15",
        "pix=16x-1",
        "pix=16x15x3",
        "pix=x",
    ] {
        assert_eq!(of(bad), None, "{bad}");
    }
}
