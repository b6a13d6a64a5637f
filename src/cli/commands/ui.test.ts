// What `coxswain ui` serves and prints, for a cluster with a port for the web UI.
import { equal, match, notEqual } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { up } from '../../cluster/run/up.ts'
import { typed } from './typed.harness.ts'
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

/** The command serves the page on localhost until it is interrupted. */
async function serves(kubeconfigPath: string): Promise<void> {
  const interrupt = new AbortController()
  const found = Promise.withResolvers<string>()
  const onOutput = (printed: string) => {
    const [link] = /http:\/\/localhost:\d+\/ui\/login#[\w-]{43}/.exec(printed) ?? []
    if (link !== undefined) found.resolve(link)
  }
  const ended = typed(['ui'], { KUBECONFIG: kubeconfigPath }, onOutput, interrupt.signal)
  const link = new URL(await found.promise)
  const { status } = await fetch(`${link.origin}/ui/`)
  equal([200, 503].includes(status), true)
  interrupt.abort(new Error('interrupted'))
  const { code, printed } = await ended
  equal(code, 0)
  match(printed, /^The web UI of https:\/\/127\.0\.0\.1:\d+, until Ctrl-C\. The link works once, within a minute:\n/)
}

const statusOf = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    }).on('error', reject)
  })

test('the command serves the page on localhost, or prints a link to the port of the web UI', async () => {
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
    await serves(kubeconfigPath)
    const { complained } = await typed(['ui', '--print', '--open'], { KUBECONFIG: kubeconfigPath })
    match(complained, /--print serves nothing, so --open and --port have no effect/)
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
