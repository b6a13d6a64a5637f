// What nodes and `coxswain rotate` agree on while the CA is replaced: annotations of a Node say which authorities it should trust, and which
// it trusts and has a certificate of.
import type { Context } from '../../base/observability/context.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import type { Client } from '../../client/client.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'

const wantedAnnotation = 'coxswain.dev/published-authorities'
const trustedAnnotation = 'coxswain.dev/trusted-authorities'
const digestCharacters = 16

export const authorityDigest = (authority: string, crypto: Pick<CryptoProvider, 'sha256'>): string =>
  crypto.sha256(authority.trim()).toHex().slice(0, digestCharacters)

/** The digest of the authorities that the node should trust; undefined if none were replaced. */
export const publishedDigest = ({ metadata }: Node): string | undefined =>
  lookup(metadata.annotations, wantedAnnotation)

export const trustedDigest = ({ metadata }: Node): string | undefined => lookup(metadata.annotations, trustedAnnotation)

/** Asks a node to trust the authorities that the cluster publishes. */
export const announceToNode = (client: Client, name: string, digest: string, context: Context): Promise<void> =>
  annotate(client, name, wantedAnnotation, digest, context)

/** Notes that the node trusts them, and that its certificate is one of the first of them. */
export const noteTrustedAuthority = (
  client: Client,
  name: string,
  authority: string,
  crypto: Pick<CryptoProvider, 'sha256'>,
  context: Context,
): Promise<void> => annotate(client, name, trustedAnnotation, authorityDigest(authority, crypto), context)

/** A node that does not exist has nothing to note. */
async function annotate(client: Client, name: string, key: string, value: string, context: Context): Promise<void> {
  const metadata = { annotations: { [key]: value } }
  await client
    .of(node)
    .patch(name, '', { metadata }, 'merge', context)
    .catch((error: unknown) => {
      if (!hasReason(error, 'NotFound')) throw error
    })
}
