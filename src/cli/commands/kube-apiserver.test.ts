// `coxswain kube-apiserver` in this process, on `coxswain etcd` in memory.
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { Authority } from '../../pki/authority.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { commands } from '../commands.ts'
import { run } from '../run.ts'

const directory = await mkdtemp(join(tmpdir(), 'coxswain-kube-apiserver-'))
after(() => rm(directory, { recursive: true, force: true }))
const authority = Authority.create('ca', { clock: realClock, random: systemRandom, crypto: nodeCrypto })

/** Runs a command until it is aborted; `printed` resolves when its output matches. */
function started(argv: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const stopping = new AbortController()
  let output = ''
  let changed = Promise.withResolvers<void>()
  const write = (text: string) => {
    output += text
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const ended = run(commands, argv, {
    out: write,
    err: write,
    isTerminal: false,
    environment,
    signal: stopping.signal,
    startedMs: 0,
  })
  void ended.then(() => changed.resolve())
  return {
    async printed(pattern: RegExp): Promise<string> {
      for (;;) {
        const [, found] = pattern.exec(output) ?? []
        if (found !== undefined) return found
        const next = changed.promise
        const code = await Promise.race([next, ended])
        if (code !== undefined) throw new Error(`it ended with ${code}: ${output}`)
      }
    },
    async stop(): Promise<number> {
      stopping.abort()
      return ended
    },
  }
}

async function statusOf(url: string, identity?: { readonly certificate: string; readonly key: string }) {
  const sent = request(url, {
    ca: authority.certificate,
    agent: false,
    ...(identity && { cert: identity.certificate, key: identity.key }),
  })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

test('it serves with the certificates of another program, on the etcd that is named', async () => {
  const etcd = started(['etcd', '--store=memory', '--listen-client-urls=http://127.0.0.1:0'])
  const address = await etcd.printed(/^ready to serve client requests on (\S+)$/m)
  const serving = authority.issue({
    subject: { commonName: 'api', organizations: [] },
    uses: ['server'],
    addresses: ['127.0.0.1'],
  })
  await writeFile(join(directory, 'apiserver.crt'), serving.certificate)
  await writeFile(join(directory, 'apiserver.key'), serving.key)
  await writeFile(join(directory, 'ca.crt'), authority.certificate)
  const server = started([
    'kube-apiserver',
    `--etcd-servers=http://${address}`,
    '--etcd-prefix=/tests',
    `--cert-dir=${directory}`,
    `--client-ca-file=${join(directory, 'ca.crt')}`,
    '--secure-port=0',
    '--allow-privileged=true',
    '--enable-priority-and-fairness=false',
    '--runtime-config=api/all=true',
  ])
  const url = await server.printed(/^ready in \d+ ms at (\S+)$/m)
  const admin = authority.issue({ subject: { commonName: 'me', organizations: ['system:masters'] }, uses: ['client'] })
  deepEqual([await statusOf(`${url}/healthz`), await statusOf(`${url}/api/v1/nodes`, admin)], [200, 200])
  match(await server.printed(/("flag":"runtime-config".*)/), /api\/all=true/)
  equal(await server.stop(), 0)
  equal(await etcd.stop(), 0)
})

const rejected: readonly [flags: readonly string[], message: RegExp][] = [
  [[], /^coxswain kube-apiserver: --etcd-servers must be specified$/],
  [['--etcd-servers=http://192.0.2.1:2379'], /--etcd-servers: .* without TLS only an etcd on this machine is used$/],
  [['--etcd-servers=nowhere'], /--etcd-servers: "nowhere" is not like https:/],
  [['--etcd-servers=http://127.0.0.1:1', '--secure-port=x'], /--secure-port "x" is not a number from 0 to 65535$/],
  [['--insecure-port=8080'], /unknown flag --insecure-port/],
]
for (const [flags, message] of rejected)
  test(`rejected: ${flags.join(' ') || 'no flags'}`, async () => {
    let printed = ''
    const code = await run(commands, ['kube-apiserver', ...flags], {
      out: () => {},
      err: (text) => (printed += text),
      isTerminal: false,
      environment: {},
      signal: AbortSignal.abort(),
      startedMs: 0,
    })
    equal(code, 2)
    match(printed.trim(), message)
  })
