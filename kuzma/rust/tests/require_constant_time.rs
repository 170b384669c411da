//! By itself, because it holds for the whole process and for good.

use kuzma::cipher::KeyInit;
use kuzma::{Backend, CtrAcpkm, Error, Kuznyechik, Magma, OmacAcpkm, require_constant_time};

#[test]
fn variable_time_backends_are_refused_from_then_on() {
    let key = [0x42; 32].into();
    let table = Backend::<Kuznyechik>::by_name("table").expect("it is everywhere");
    assert!(Kuznyechik::with_backend(table, &key).is_ok());

    require_constant_time();
    assert_eq!(Kuznyechik::with_backend(table, &key).err(), Some(Error::Backend));
    assert_eq!(CtrAcpkm::with_backend(table, &key, &[0; 8].into(), 64).err(), Some(Error::Backend));
    assert_eq!(OmacAcpkm::with_backend(table, &key, 64, 64).err(), Some(Error::Backend));
    assert!(Backend::<Kuznyechik>::default().is_constant_time());
    assert!(Kuznyechik::new(&key).backend().is_constant_time());
    assert!(Magma::new(&key).backend().is_constant_time());
}
