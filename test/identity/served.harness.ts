// A cluster in this process with its real port, and requests to it with any certificate or token.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLog } from '../../src/base/observability/log.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { up } from '../../src/cluster/run/up.ts'
import type { PolicyFlagValues } from '../../src/cluster/flags/policy-flags.ts'
import { Authority, type Identity } from '../../src/pki/authority.ts'
import { kubeconfigText, parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import type { Outbound } from '../../src/platform/http/outbound.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { newFolder } from '../process.ts'

const { signal } = new AbortController()
const kubectl = kubectls().at(-1)
if (kubectl === undefined) throw new Error('there is no kubectl')

interface Sent {
  readonly token?: string
  readonly body?: object
  readonly headers?: Record<string, string>
}

export async function startServed(files: Record<string, string> = {}, flags: PolicyFlagValues = {}, nodes = 1) {
  const folder = await newFolder()
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  const absolute = Object.fromEntries(
    Object.entries(flags).map(([name, value]) => [name, value in files ? join(folder, value) : value]),
  )
  let logged = ''
  const log = createLog({ clock: realClock, write: (text) => (logged += text), format: 'json', level: 'debug' })
  const adminPath = join(folder, 'kubeconfig')
  const dataDirectory = join(folder, 'data')
  const running = await up({
    dataDirectory,
    kubeconfigPath: adminPath,
    store: { kind: 'memory' },
    host: '127.0.0.1',
    port: 0,
    nodes,
    policyFlags: absolute,
    log,
  })
  const admin = parseKubeconfig(await readFile(adminPath, 'utf8'))
  const pki = (name: string) => readFile(join(dataDirectory, 'pki', name), 'utf8')
  const authority = Authority.load(
    { certificate: await pki('ca.crt'), key: await pki('ca.key') },
    { clock: realClock, random: systemRandom, crypto: nodePlatform.crypto },
  )
  const connect = (identity?: Identity) =>
    nodePlatform.outbound.connect({ origin: running.url, tls: { authority: admin.authority, ...identity } })
  const callOver = async (outbound: Outbound, method: string, target: string, { token, body, headers = {} }: Sent) => {
    const shown = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answer = await outbound.send(
      {
        method,
        target,
        headers: { 'content-type': 'application/json', ...shown, ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      signal,
    )
    const text = (await Array.fromAsync(answer.body)).map((piece) => new TextDecoder().decode(piece)).join('')
    return {
      status: answer.status,
      text,
      body: text.startsWith('{') ? (JSON.parse(text) as { message?: string; status?: { token?: string } }) : {},
    }
  }
  /** A request over a connection of its own. */
  const call = async (method: string, target: string, sent: Sent & { readonly identity?: Identity }) => {
    const outbound = connect(sent.identity)
    try {
      return await callOver(outbound, method, target, sent)
    } finally {
      await outbound.close()
    }
  }
  const asAdmin = (method: string, target: string, body?: object) =>
    call(method, target, { identity: admin.identity, ...(body === undefined ? {} : { body }) })
  const identityOf = (commonName: string, ...organizations: string[]) =>
    authority.issue({ subject: { commonName, organizations }, uses: ['client'] })
  /** A kubeconfig of another user, for kubectl. */
  const kubeconfigOf = async (commonName: string) => {
    const path = join(folder, `${commonName}.kubeconfig`)
    await writeFile(path, kubeconfigText({ ...admin, identity: identityOf(commonName) }))
    return path
  }
  const k = async (kubeconfig: string, ...args: string[]) => {
    const { out, err } = await runKubectl(kubectl as NonNullable<typeof kubectl>, kubeconfig, args)
    return (out + err).trimEnd()
  }
  return {
    folder,
    dataDirectory,
    adminPath,
    admin,
    pki,
    call,
    connect,
    callOver,
    asAdmin,
    identityOf,
    kubeconfigOf,
    k,
    logged: () => logged,
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
