// ServerIdentity: how the certificate of a server is verified, if it is not that of the host that is connected to.

export type AlternativeName =
  /** A certificate for a wildcard is one for its names, and a wildcard allows the names of its domain. */
  { readonly kind: 'dns'; readonly name: string } | { readonly kind: 'uri'; readonly uri: string }

export interface ServerIdentity {
  /** Different for different identities. */
  readonly id: string
  /** The certificates of the authorities, as PEM. */
  readonly authority: string
  /** Is sent to the server (SNI). */
  readonly serverName: string
  /** The certificate must have one of these. */
  readonly names: readonly AlternativeName[]
}
