// Reads a kubeconfig: the server and the credentials, which are certificates, tokens or an exec plugin.
// Credentials are read on demand and again when they expire. They never appear in error messages.
import { lookup } from '../../base/collections/lookup.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Files } from '../../platform/files.ts'
import type { Processes } from '../../platform/process/processes.ts'

/** The server and credentials of one context. */
export interface ClusterAccess {
  readonly server: string
  /** The certificate authority of the server; the system's authorities when undefined. */
  readonly authority: string | undefined
  readonly certificate: string | undefined
  readonly key: string | undefined
  /** The authorization header, if any. */
  headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>>
}

export interface KubeconfigDeps {
  readonly files: Files
  readonly processes: Processes
  readonly clock: Clock
}

export class KubeconfigError extends Error {
  override name = 'KubeconfigError'
}

/** How long a token from a file is cached; such tokens are rotated. */
const tokenFileMs = 60_000

type Entry = Readonly<Record<string, unknown>>

/** Reads the current context. */
export async function readKubeconfig(text: string, deps: KubeconfigDeps, signal: AbortSignal): Promise<ClusterAccess> {
  const { parse } = await import('yaml')
  const config = parse(text) as Entry | null
  if (config === null || typeof config !== 'object') throw new KubeconfigError('the kubeconfig is empty')
  const wanted = String(config['current-context'] ?? '')
  const context = named(config, 'contexts', 'context', wanted)
  const cluster = named(config, 'clusters', 'cluster', String(context['cluster'] ?? ''))
  const user = named(config, 'users', 'user', String(context['user'] ?? ''))
  if (cluster['insecure-skip-tls-verify'] === true)
    throw new KubeconfigError('insecure-skip-tls-verify is not supported; set certificate-authority instead')
  const server = cluster['server']
  if (typeof server !== 'string') throw new KubeconfigError('the cluster of the kubeconfig has no server')
  const pem = (entry: Entry, name: string) => dataOrFile(entry, name, deps.files)
  const exec = user['exec'] === undefined ? undefined : execPlugin(user['exec'] as ExecConfig, deps)
  const first = await exec?.(signal)
  return {
    server,
    authority: await pem(cluster, 'certificate-authority'),
    certificate: first?.clientCertificateData ?? (await pem(user, 'client-certificate')),
    key: first?.clientKeyData ?? (await pem(user, 'client-key')),
    headers: tokenHeaders(user, exec, deps),
  }
}

/** The certificate authorities of a kubeconfig with one cluster and no user, as PEM. */
export async function embeddedAuthorities(text: string): Promise<string> {
  const { parse } = await import('yaml')
  const config = parse(text) as Entry | null
  const [only] = (lookup(config ?? {}, 'clusters') ?? []) as readonly Entry[]
  const data = lookup((lookup(only ?? {}, 'cluster') ?? {}) as Entry, 'certificate-authority-data')
  if (typeof data !== 'string') throw new KubeconfigError('the kubeconfig has no certificate-authority-data')
  return new TextDecoder().decode(Uint8Array.fromBase64(data))
}

function named(config: Entry, list: string, part: string, name: string): Entry {
  const entries = (lookup(config, list) ?? []) as readonly Entry[]
  const found = lookup(
    entries.find((entry) => entry['name'] === name),
    part,
  )
  if (found === undefined || found === null)
    throw new KubeconfigError(`the kubeconfig has no ${part} ${JSON.stringify(name)}`)
  return found as Entry
}

async function dataOrFile(entry: Entry, name: string, files: Files): Promise<string | undefined> {
  const data = entry[`${name}-data`]
  if (typeof data === 'string') return new TextDecoder().decode(Uint8Array.fromBase64(data))
  const path = lookup(entry, name)
  if (typeof path !== 'string') return undefined
  const content = await files.read(path)
  if (content === undefined) throw new KubeconfigError(`the file ${path}, which the kubeconfig names, does not exist`)
  return new TextDecoder().decode(content)
}

type CredentialPlugin = (signal: AbortSignal) => Promise<ExecCredential>

function tokenHeaders(
  user: Entry,
  exec: CredentialPlugin | undefined,
  { files, clock }: KubeconfigDeps,
): ClusterAccess['headers'] {
  const bearer = (token: string | undefined): Record<string, string> =>
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  if (exec !== undefined) return async (signal) => bearer((await exec(signal)).token)
  const { token, tokenFile } = user as { token?: string; tokenFile?: string }
  if (tokenFile === undefined) return () => Promise.resolve(bearer(token))
  let read = { text: token, atMs: -Infinity }
  return async () => {
    if (clock.monotonicMs() - read.atMs >= tokenFileMs) {
      const content = await files.read(tokenFile)
      if (content === undefined) throw new KubeconfigError(`the token file ${tokenFile} does not exist`)
      read = { text: new TextDecoder().decode(content).trim(), atMs: clock.monotonicMs() }
    }
    return bearer(read.text)
  }
}

interface ExecConfig {
  readonly apiVersion?: string
  readonly command: string
  readonly args?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
}

interface ExecCredential {
  readonly token?: string
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
  readonly expirationTimestamp?: string
}

/** Runs the exec plugin when its last credential has expired. Concurrent callers share one run. */
function execPlugin(
  { apiVersion = 'client.authentication.k8s.io/v1', command, args, env }: ExecConfig,
  deps: KubeconfigDeps,
): CredentialPlugin {
  let known: { credential: ExecCredential; untilMs: number } | undefined
  let running: Promise<ExecCredential> | undefined
  const run = async (signal: AbortSignal): Promise<ExecCredential> => {
    const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false } }
    const environment = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]))
    const { code, stdout } = await deps.processes.run(
      command,
      args ?? [],
      { environment: { ...environment, KUBERNETES_EXEC_INFO: JSON.stringify(info) } },
      signal,
    )
    if (code !== 0) throw new KubeconfigError(`${command} exited with code ${code} instead of returning a credential`)
    return parseCredential(stdout, command)
  }
  return async (signal) => {
    if (known !== undefined && deps.clock.nowMs() < known.untilMs) return known.credential
    running ??= run(signal).finally(() => (running = undefined))
    const credential = await running
    const { expirationTimestamp: until } = credential
    known = { credential, untilMs: until === undefined ? Infinity : Date.parse(until) }
    return credential
  }
}

function parseCredential(text: string, command: string): ExecCredential {
  try {
    const { kind, status } = JSON.parse(text) as { kind?: string; status?: ExecCredential }
    if (kind === 'ExecCredential' && status !== undefined) return status
  } catch {
    // Reported below, without the output, because it may contain the credential.
  }
  throw new KubeconfigError(`${command} did not print an ExecCredential`)
}
