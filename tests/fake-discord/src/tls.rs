//! The server behind TLS under Discord's own name, for clients whose limiter works with no other address: they resolve
//! `discord.com` to [`Tls::addr`] and trust [`Tls::ca_pem`].

use crate::server::connection;
use axum::Router;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

/// A listener with a certificate; dropping it ends it.
pub struct Tls {
    /// Where it listens.
    pub addr: SocketAddr,
    /// The authority of its certificate.
    pub ca_pem: String,
    task: JoinHandle<()>,
}

impl Tls {
    pub(crate) async fn start(app: Router) -> io::Result<Self> {
        let (config, ca_pem) = certified().map_err(io::Error::other)?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        #[expect(clippy::disallowed_methods, reason = "a test server of its own; its owner ends it")]
        let task = tokio::spawn(accept(listener, acceptor, app));
        Ok(Self { addr, ca_pem, task })
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, app: Router) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (acceptor, app) = (acceptor.clone(), app.clone());
                connections.spawn(async move {
                    // a client that breaks off is no concern of the others
                    if let Ok((stream, _)) = accepted
                        && let Ok(stream) = acceptor.accept(stream).await
                    {
                        connection(stream, app).await;
                    }
                });
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A certificate for Discord's name, and its authority's as PEM.
fn certified() -> Result<(ServerConfig, String), Failure> {
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate()?;
    let ca_pem = authority.self_signed(&authority_key)?.pem();
    let key = KeyPair::generate()?;
    let issuer = Issuer::new(authority, authority_key);
    let certificate = CertificateParams::new(vec!["discord.com".to_owned()])?.signed_by(&key, &issuer)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)?;
    Ok((config, ca_pem))
}
