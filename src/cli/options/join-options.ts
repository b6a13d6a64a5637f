// The options with which a machine joins a cluster: a token, as text or in a file, and the hashes of the cluster's CA.
import { parseJoinToken, type JoinToken } from '../../cluster/client/join-token-text.ts'
import { UsageError } from '../command/command.ts'
import { asUsage, readOptionFile } from './component-options.ts'

export const joinOptions = {
  'token-file': {
    type: 'string',
    value: '<file>',
    help: 'a file with the token, which is then not in the list of processes',
  },
  'discovery-token-ca-cert-hash': {
    type: 'string',
    isRepeatable: true,
    value: 'sha256:<hash>',
    help: "the hash of the public key of the cluster's CA, for a token without it; may be repeated",
  },
} as const

interface JoinFlags {
  readonly token?: string
  readonly 'token-file'?: string
  readonly 'discovery-token-ca-cert-hash'?: string
}

/** Undefined if no flag has a token. */
export async function joinTokenOf(given: JoinFlags): Promise<JoinToken | undefined> {
  const { token, 'token-file': path, 'discovery-token-ca-cert-hash': hashes } = given
  if (token !== undefined && path !== undefined) throw new UsageError('--token and --token-file exclude one another')
  const text = path === undefined ? token : (await readOptionFile('--token-file', path)).trim()
  return text === undefined ? undefined : asUsage(() => parseJoinToken(text, hashes?.split(',') ?? []))
}
