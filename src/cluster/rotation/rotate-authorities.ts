// The rotation of the CAs: that of the cluster, and that of front proxies. All servers trust the next ones before anything is signed by
// them. Then servers sign with the next ones, and show clients that trust only the earlier ones a certificate in which these sign the
// next ones. When all nodes trust them and have certificates of them, the earlier ones are retired.
import { context } from '../../base/observability/context.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { listAllPages } from '../../client/informer/paged-list.ts'
import { Authority } from '../../pki/authority.ts'
import { distributeFiles, untilUsed } from './distribute-files.ts'
import { announceToNode, authorityDigest, publishedDigest, trustedDigest } from './node-authority.ts'
import { authorityKeyOf, currentFiles, requireFile, type RotateDeps } from './rotate-deps.ts'
import type { FileContents } from './shared-files.ts'

const authorities = [
  { name: 'ca', commonName: 'kubernetes' },
  { name: 'front-proxy-ca', commonName: 'front-proxy-ca' },
] as const

type AuthorityName = (typeof authorities)[number]['name']

export const authorityFiles = authorities.flatMap(({ name }) => [`${name}.crt`, `${name}.key`])

const nodesMsMax = 30_000
const checkEveryMs = 500
const namesShown = 10

export interface RotatedAuthorities {
  /** Whether there are new ones: an earlier rotation is continued until it ends with the retirement of the earlier ones. */
  readonly isNew: boolean
  /** The names of nodes that do not trust the new CA yet. */
  readonly missingNodes: readonly string[]
}

export async function rotateAuthorities(deps: RotateDeps, signal: AbortSignal): Promise<RotatedAuthorities> {
  const { clock, onProgress } = deps
  const authorityKey = authorityKeyOf(deps)
  const { version, files: current } = await currentFiles(deps, signal)
  if (authorities.some(({ name }) => load(current, name, deps).chain !== '')) {
    onProgress('waiting until all servers use the new CA')
    await untilUsed(version, deps, signal)
    return { isNew: false, missingNodes: await announce(deps, signal) }
  }
  const seconds = Math.floor(clock.nowMs() / 1000)
  const replaced = authorities.map(({ name, commonName }) => ({
    name,
    own: load(current, name, deps),
    next: Authority.create(`${commonName}@${seconds}`, deps),
  }))
  const trust = replaced.map(({ name, own, next }) => [`${name}.crt`, `${own.certificate}${next.certificate}`])
  const sign = replaced.flatMap(({ name, own, next }) => [
    [`${name}.crt`, `${next.certificate}${own.crossSign(next)}${own.certificate}`],
    [`${name}.key`, next.identity.key],
  ])
  onProgress('waiting until all servers trust the new CA')
  await distributeFiles(() => Object.fromEntries(trust) as FileContents, { ...deps, authorityKey }, signal)
  onProgress('waiting until all servers use the new CA')
  const signing = Object.fromEntries(sign) as FileContents
  const nextAuthorityKey = requireFile(signing, 'ca.key')
  await distributeFiles(() => signing, { ...deps, authorityKey, nextAuthorityKey }, signal)
  return { isNew: true, missingNodes: await announce(deps, signal) }
}

/** The earlier CAs are no longer trusted. Returns whether there were any. Throws if nodes need them, unless `force` is set. */
export async function retireAuthorities(
  { force, ...deps }: RotateDeps & { readonly force: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  const { files: current } = await currentFiles(deps, signal)
  const { chain, trusted } = load(current, 'ca', deps)
  if (chain === '') return false
  const digest = authorityDigest(trusted, deps.crypto)
  const missing = force ? [] : namesOf((await nodesOf(deps, signal)).filter((each) => trustedDigest(each) !== digest))
  if (missing.length > 0) throw new Error(missingText(missing))
  deps.onProgress('waiting until no server trusts the earlier CA')
  const own = authorities.map(({ name }) => [`${name}.crt`, load(current, name, deps).certificate])
  const retired = Object.fromEntries(own) as FileContents
  await distributeFiles(() => retired, { ...deps, authorityKey: authorityKeyOf(deps) }, signal)
  await announce(deps, signal)
  return true
}

function load(files: FileContents, name: AuthorityName, deps: RotateDeps): Authority {
  return Authority.load(
    { certificate: requireFile(files, `${name}.crt`), key: requireFile(files, `${name}.key`) },
    deps,
  )
}

const namesOf = (nodes: readonly Node[]): readonly string[] => nodes.map(({ metadata }) => metadata.name)

const nodesOf = async ({ client }: RotateDeps, signal: AbortSignal): Promise<readonly Node[]> =>
  (await listAllPages(client.of(node), {}, context(signal))).items

/** Asks all nodes to trust what servers use now, and waits a while for it. Returns the names of those that do not. */
async function announce(deps: RotateDeps, signal: AbortSignal): Promise<readonly string[]> {
  const { client, clock, crypto, onProgress } = deps
  const { files } = await currentFiles(deps, signal)
  const digest = authorityDigest(load(files, 'ca', deps).trusted, crypto)
  onProgress('waiting until nodes trust the new CA, and have certificates of it')
  for (const each of await nodesOf(deps, signal))
    if (publishedDigest(each) !== digest) await announceToNode(client, each.metadata.name, digest, context(signal))
  const untilMs = clock.monotonicMs() + nodesMsMax
  for (;;) {
    const missing = (await nodesOf(deps, signal)).filter((each) => trustedDigest(each) !== digest)
    if (missing.length === 0 || clock.monotonicMs() > untilMs) return namesOf(missing)
    await clock.sleep(checkEveryMs, signal)
  }
}

function missingText(names: readonly string[]): string {
  const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : ''
  return (
    `these nodes do not trust the new CA, or have a certificate of the earlier one: ${names.slice(0, namesShown).join(', ')}${more}. ` +
    'Kubelets of Coxswain follow within seconds while they run. Other kubelets need a new kubeconfig. With --force they lose access to the cluster'
  )
}
