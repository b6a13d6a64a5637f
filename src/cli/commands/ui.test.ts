// The link that `coxswain ui` prints, of a cluster with a port for the web UI.
import { equal, match, notEqual } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { up } from '../../cluster/run/up.ts'
import { commands } from '../commands.ts'
import { run } from '../run.ts'
import { loginLink } from './ui.ts'

const links: [server: string, port: number | undefined, link: string][] = [
  ['https://127.0.0.1:6443', undefined, 'https://127.0.0.1:6443/ui/login#code'],
  ['https://127.0.0.1:6443', 7443, 'https://127.0.0.1:7443/ui/login#code'],
  ['https://[::1]:6443/', undefined, 'https://[::1]:6443/ui/login#code'],
]

test('the code is in the fragment of the link', () => {
  for (const [server, port, link] of links)
    equal(loginLink(server, { code: 'code', ...(port === undefined ? {} : { port }) }), link)
})

async function typed(argv: readonly string[], environment: Readonly<Record<string, string>>) {
  let printed = ''
  let complained = ''
  const code = await run(commands, argv, {
    out: (text) => void (printed += text),
    err: (text) => void (complained += text),
    isTerminal: false,
    environment,
    signal: new AbortController().signal,
    startedMs: 0,
  })
  return { code, printed, complained }
}

const statusOf = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    }).on('error', reject)
  })

test('the command prints a link to the port of the web UI', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-ui-'))
  const kubeconfigPath = join(directory, 'config')
  try {
    await using cluster = await up({
      dataDirectory: join(directory, 'data'),
      kubeconfigPath,
      store: { kind: 'memory' },
      host: '127.0.0.1',
      port: 0,
      uiPort: 0,
      nodes: 0,
      log: silentLog,
      isAlone: true,
    })
    const { code, printed } = await typed(['ui', '--print'], { KUBECONFIG: kubeconfigPath })
    equal(code, 0)
    const link = new URL(printed)
    match(link.hash, /^#[\w-]{43}$/)
    notEqual(link.port, new URL(cluster.url).port)
    const page = [200, 503] // 503: the page has not been built
    for (const address of [link.origin, cluster.url]) equal(page.includes(await statusOf(`${address}/ui/login`)), true)
    match(
      (await typed(['ui'], { KUBECONFIG: kubeconfigPath })).printed,
      /^Open this link within a minute; it works once:/,
    )
  } finally {
    await rm(directory, { recursive: true })
  }
})

test('a server that cannot be reached is named', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-ui-'))
  const kubeconfig = `
current-context: x
contexts: [{ name: x, context: { cluster: x, user: x } }]
clusters: [{ name: x, cluster: { server: 'https://127.0.0.1:1' } }]
users: [{ name: x, user: {} }]`
  await writeFile(join(directory, 'config'), kubeconfig)
  try {
    const { code, complained } = await typed(['ui', '--print'], { KUBECONFIG: join(directory, 'config') })
    equal(code, 1)
    match(complained, /cannot reach the API server https:\/\/127\.0\.0\.1:1/)
  } finally {
    await rm(directory, { recursive: true })
  }
})
