// The rotation of the CAs: that of the cluster, and that of front proxies. All servers trust the next ones before anything is signed by
// them. Then servers sign with the next ones, and show clients that trust only the earlier ones a certificate in which these sign the
// next ones. When all nodes trust them and have certificates of them, the earlier ones are retired.
import { context } from '../../base/observability/context.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { listAllPages } from '../../client/informer/paged-list.ts'
import { Authority } from '../../pki/authority.ts'
import { distributeFiles } from './distribute-files.ts'
import { announceToNode, authorityDigest, publishedDigest, trustedDigest } from './node-authority.ts'
import { authorityKeyOf, requireFile, type RotateDeps } from './rotate-deps.ts'
import { findSharedFiles, openSharedFiles, type FileContents } from './shared-files.ts'

const authorities = [
  { name: 'ca', commonName: 'kubernetes' },
  { name: 'front-proxy-ca', commonName: 'front-proxy-ca' },
] as const

type AuthorityName = (typeof authorities)[number]['name']

export const authorityFiles = authorities.flatMap(({ name }) => [`${name}.crt`, `${name}.key`])

const nodesMsMax = 30_000
const checkEveryMs = 500
const namesShown = 10

/** Returns the names of nodes that do not trust the new CA yet. */
export async function rotateAuthorities(deps: RotateDeps, signal: AbortSignal): Promise<readonly string[]> {
  const { clock, onProgress } = deps
  const authorityKey = authorityKeyOf(deps)
  if (authorities.some(({ name }) => load(deps.initial, name, deps).chain !== ''))
    throw new Error('the earlier CA is still trusted; retire it first: coxswain rotate ca --retire')
  const seconds = Math.floor(clock.nowMs() / 1000)
  const next = new Map(
    authorities.map(({ name, commonName }) => [name, Authority.create(`${commonName}@${seconds}`, deps)] as const),
  )
  const change =
    (of: (current: Authority, next: Authority, name: AuthorityName) => FileContents) => (last: FileContents) =>
      Object.assign(
        {},
        ...[...next].map(([name, each]) => of(load({ ...deps.initial, ...last }, name, deps), each, name)),
      )
  onProgress('waiting until all servers trust the new CA')
  const trust = change((current, { certificate }, name) => ({
    [`${name}.crt`]: `${current.certificate}${certificate}`,
  }))
  await distributeFiles(trust, { ...deps, authorityKey }, signal)
  onProgress('waiting until all servers use the new CA')
  const sign = change((current, { certificate, identity }, name) => ({
    [`${name}.crt`]: `${certificate}${current.crossSign(requireNext(next, name))}${current.certificate}`,
    [`${name}.key`]: identity.key,
  }))
  const nextAuthorityKey = requireNext(next, 'ca').identity.key
  await distributeFiles(sign, { ...deps, authorityKey, nextAuthorityKey }, signal)
  return announce({ ...deps, authorityKey: nextAuthorityKey }, signal)
}

/** The earlier CAs are no longer trusted. Returns whether there were any. Throws if nodes need them, unless `force` is set. */
export async function retireAuthorities(
  { force, ...deps }: RotateDeps & { readonly force: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  const authorityKey = authorityKeyOf(deps)
  const current = load(deps.initial, 'ca', deps)
  if (current.chain === '') return false
  const digest = authorityDigest(current.trusted, deps.crypto)
  const missing = force ? [] : namesOf((await nodesOf(deps, signal)).filter((each) => trustedDigest(each) !== digest))
  if (missing.length > 0) throw new Error(missingText(missing))
  deps.onProgress('waiting until no server trusts the earlier CA')
  const files = Object.fromEntries(
    authorities.map(({ name }) => [`${name}.crt`, load(deps.initial, name, deps).certificate]),
  )
  await distributeFiles(() => files, { ...deps, authorityKey }, signal)
  await announce({ ...deps, authorityKey }, signal)
  return true
}

function load(files: FileContents, name: AuthorityName, deps: RotateDeps): Authority {
  return Authority.load(
    { certificate: requireFile(files, `${name}.crt`), key: requireFile(files, `${name}.key`) },
    deps,
  )
}

function requireNext(next: ReadonlyMap<AuthorityName, Authority>, name: AuthorityName): Authority {
  const found = next.get(name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

const namesOf = (nodes: readonly Node[]): readonly string[] => nodes.map(({ metadata }) => metadata.name)

const nodesOf = async ({ client }: RotateDeps, signal: AbortSignal): Promise<readonly Node[]> =>
  (await listAllPages(client.of(node), {}, context(signal))).items

/** Asks all nodes to trust what servers use now, and waits a while for it. Returns the names of those that do not. */
async function announce(
  deps: RotateDeps & { readonly authorityKey: string },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { client, clock, crypto, onProgress } = deps
  const published = await findSharedFiles(client, context(signal))
  const files = published === undefined ? {} : openSharedFiles(published, deps).files
  const digest = authorityDigest(load({ ...deps.initial, ...files }, 'ca', deps).trusted, crypto)
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
