// flow and why: a Deployment of a hundred pods on fifty nodes, wrong names, unreachable servers.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { namespace } from '../../api/core/v1/namespace.ts'
import { startCluster, type TestCluster } from '../../cluster/testing/start-cluster.ts'
import { commands } from '../commands.ts'
import { run } from '../run.ts'

const ctx = context(new AbortController().signal)
const colorCode = '\u001B['
let cluster: TestCluster
let directory = ''

interface Screen {
  readonly columns?: number
  readonly environment?: Readonly<Record<string, string>>
  readonly isTerminal?: boolean
  readonly onPrint?: (printed: string, interrupt: () => void) => void
}

async function typed(argv: readonly string[], screen: Screen = {}) {
  const { columns, environment = {}, isTerminal = columns !== undefined, onPrint = () => {} } = screen
  const controller = new AbortController()
  let printed = ''
  let complained = ''
  const code = await run(commands, argv, {
    out(text) {
      printed += text
      onPrint(printed, () => controller.abort())
    },
    err: (text) => void (complained += text),
    isTerminal,
    columns,
    environment: { KUBECONFIG: join(directory, 'config'), ...environment },
    signal: controller.signal,
    startedMs: 0,
  })
  return { code, printed, complained }
}

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coxswain-flow-'))
  cluster = await startCluster({ nodes: 50, https: true })
  const { client } = cluster
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }
  const web = (replicas: number) => ({
    metadata: { name: 'web' },
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template },
  })
  await client.of(deployment).create(web(100), 'default', ctx)
  await client.of(namespace).create({ metadata: { name: 'shop' } }, '', ctx)
  await client.of(deployment).create(web(1), 'shop', ctx)
  await cluster.until(async () => {
    const { status } = await client.of(deployment).get('web', 'default', ctx)
    return status.availableReplicas === 100
  })
  await writeFile(join(directory, 'config'), cluster.kubeconfig)
  const shop = cluster.kubeconfig
    .replace(/^- name: (\S+)\n {2}context:\n/m, '- name: in-shop\n  context:\n    namespace: shop\n')
    .replace(/^current-context: .*$/m, 'current-context: nothing')
  await writeFile(join(directory, 'shop'), shop)
  await writeFile(join(directory, 'dead'), cluster.kubeconfig.replace(/server: .*/, 'server: https://127.0.0.1:1'))
})
after(async () => {
  await cluster.stop()
  await rm(directory, { recursive: true })
})

/** A hundred pods on fifty nodes, in at most this many lines. */
const linesMax = 60

for (const columns of [80, 120, 200])
  test(`a hundred pods on fifty nodes fit on a terminal of ${columns} columns`, async () => {
    const { printed } = await typed(['flow', 'deployment/web'], { columns, environment: { NO_COLOR: '1' } })
    const lines = printed.split('\n')
    ok(lines.length <= linesMax, `${lines.length} lines`)
    deepEqual(
      lines.filter((line) => line.length > columns),
      [],
    )
    match(printed, / 50 kubelets\n/)
    match(printed, /create pods web-\S+ → 201 {2}×100\n/)
    match(printed, /sync pod \S+ {2}×100\n/)
  })

test('the tree is as short; --all draws every pod and every kubelet', async () => {
  const tree = (await typed(['flow', 'deployment', 'web', '-o', 'tree'])).printed.split('\n')
  ok(tree.length <= linesMax + 20, `${tree.length} lines`)
  const all = (await typed(['flow', 'deploy/web', '--all'])).printed
  equal(all.match(/kubelet\/node-\d+$/gm)?.length, 50)
  equal(all.match(/sync pod/g)?.length, 100)
})

test('colours are used on terminals, unless NO_COLOR is set or the terminal is dumb', async () => {
  const isColored = async (screen: Screen) =>
    (await typed(['flow', 'deployment/web'], screen)).printed.includes(colorCode)
  equal(await isColored({ columns: 100 }), true)
  equal(await isColored({ columns: 100, environment: { NO_COLOR: '1' } }), false)
  equal(await isColored({ columns: 100, environment: { TERM: 'dumb' } }), false)
  equal(await isColored({ isTerminal: false }), false)
  equal((await typed(['flow', 'deployment/web', '-o', 'json'], { columns: 100 })).printed.includes(colorCode), false)
})

test('-A draws the objects of every namespace; -n and the context choose one', async () => {
  const everywhere = (await typed(['flow', 'deployment/web', '-A'])).printed
  deepEqual(everywhere.match(/^namespace .*$/gm), ['namespace default:', 'namespace shop:'])
  const shop = (await typed(['flow', 'deployment/web', '-n', 'shop'])).printed
  match(shop, /reconcile shop\/web/)
  const byContext = await typed([
    'flow',
    'deployment/web',
    '--context',
    'in-shop',
    '--kubeconfig',
    join(directory, 'shop'),
  ])
  equal(byContext.printed, shop)
  const typo = await typed(['flow', 'deployment/web', '--context', 'in-shp', '--kubeconfig', join(directory, 'shop')])
  match(typo.complained, /shop has no context "in-shp"; did you mean in-shop\?/)
})

test('-w continues with new events', { timeout: 60_000 }, async () => {
  let isChanged = false
  const { code, printed } = await typed(['flow', 'deployment/web', '-n', 'shop', '-w'], {
    onPrint(soFar, interrupt) {
      if (soFar.includes('patch deployments web')) interrupt()
      if (isChanged || !soFar.includes('create deployments web')) return
      isChanged = true
      const change = cluster.client.of(deployment).patch('web', 'shop', { spec: { replicas: 2 } }, 'merge', ctx)
      void change.then(() => cluster.clock.advance('5s'))
    },
  })
  equal(code, 0)
  match(printed, /patch deployments web → 200\n/)
})

const wrong: [what: string, argv: string[], code: number, message: RegExp][] = [
  [
    'a name that does not exist',
    ['deployment/wbe'],
    2,
    /: deployment "wbe" not found in namespace "default"; did you mean web\?\n$/,
  ],
  [
    'another namespace',
    ['deployment/web', '-n', 'kube-system'],
    2,
    /not found in namespace "kube-system"; there is one in namespace "default"\n$/,
  ],
  [
    'a server that does not run',
    ['deployment/web', '--kubeconfig', 'dead'],
    1,
    /: cannot reach the API server https:\/\/127\.0\.0\.1:1 \(.*ECONNREFUSED.*\)\. Is it running\? Start it: coxswain up\n$/,
  ],
]
for (const command of ['flow', 'why'])
  for (const [what, argv, code, message] of wrong)
    test(`${command} reports ${what}`, async () => {
      const words = argv.map((word) => (word === 'dead' ? join(directory, 'dead') : word))
      const { code: ended, complained } = await typed([command, ...words])
      equal(ended, code)
      match(complained, message)
    })

test('without a kubeconfig, a command explains how to start a cluster', async () => {
  const { code, complained } = await typed(['why', 'pod/a'], { environment: { KUBECONFIG: '', HOME: '/none' } })
  equal(code, 2)
  match(
    complained,
    /there is no kubeconfig \(\/none\/\.kube\/config, \/none\/\.local\/share\/coxswain\/admin\.kubeconfig\)\. Is a cluster running\? Start one: coxswain up\n$/,
  )
})
