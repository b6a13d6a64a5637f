// What all rotations need.
import { lookup } from '../../base/collections/lookup.ts'
import { context } from '../../base/observability/context.ts'
import type { DistributeDeps } from './distribute-files.ts'
import { findSharedFiles, openSharedFiles, type FileContents, type SharedFiles } from './shared-files.ts'

export interface RotateDeps extends Omit<DistributeDeps, 'authorityKey' | 'nextAuthorityKey'> {
  /** The files of a server, by names below `pki/`: of those that were never distributed these are used. */
  readonly initial: FileContents
  readonly onProgress: (what: string) => void
}

/** The private key of the cluster's CA, as PEM. */
export const authorityKeyOf = ({ initial }: RotateDeps): string => requireFile(initial, 'ca.key')

export function requireFile(files: FileContents, name: string): string {
  const content = lookup(files, name)
  if (content === undefined) throw new Error(`the server has no file ${name}`)
  return content
}

/** What was distributed last, and of the other files those of this server. */
export async function currentFiles(deps: RotateDeps, signal: AbortSignal): Promise<SharedFiles> {
  const published = await findSharedFiles(deps.client, context(signal))
  if (published === undefined) return { version: 0, files: deps.initial }
  const { version, files } = openSharedFiles(published, { crypto: deps.crypto, authorityKey: authorityKeyOf(deps) })
  return { version, files: { ...deps.initial, ...files } }
}
