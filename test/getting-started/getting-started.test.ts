// The first hour of a new user: every command of the getting-started page, and problems that were reported with it, in
// a simulated cluster. scripts/getting-started.mjs runs it in a fresh clone.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { streamCoxswainPath } from '../../src/cluster/client/coxswain-path.ts'
import { kubectls, runKubectl, type Kubectl, type Printed } from '../kubectl.ts'
import { coxswain, startProcess, type RunningProcess } from '../process.ts'

const page = await readFile(new URL('../../docs/getting-started.md', import.meta.url), 'utf8')

/** A command that takes longer is hanging. */
const commandMsMax = 120_000

let home = ''
let kubeconfig = ''
let cluster: RunningProcess
let kubectl: Kubectl

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'coxswain-first-hour-'))
  kubectl = kubectls().at(-1) as Kubectl
  const data = join(home, 'main')
  kubeconfig = join(data, 'admin.kubeconfig')
  cluster = await startProcess(['up', '--runtime', 'simulated', '--nodes', '5', '--port', '0', '--data-dir', data])
})
after(async () => {
  await cluster?.end()
  await rm(home, { recursive: true, force: true })
})

const typed = (args: readonly string[]): Promise<Printed> =>
  new Promise((resolve) => {
    const env = { ...process.env, HOME: home, XDG_DATA_HOME: '', KUBECONFIG: kubeconfig, NO_COLOR: '1' }
    execFile(coxswain, args, { cwd: home, env, timeout: commandMsMax }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    )
  })

const k = async (...args: string[]): Promise<string> => {
  const { code, out, err } = await runKubectl(kubectl, kubeconfig, args, { folder: home })
  equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
  return out
}

const commandsOfPage = [...page.matchAll(/`bin\/(coxswain [^`]+)`/g)].map(([, command = '']) => command)
const tilde = (command: string) => command.replaceAll('~', home).split(' ').slice(1)

test('the page has commands', () => ok(commandsOfPage.length >= 13, `${commandsOfPage.length}`))

/** Commands that need arguments which the page omits (`…`): only their flags are checked. */
for (const command of commandsOfPage.filter((each) => each.includes('…')))
  test(`${command} has the flags that the page names`, async () => {
    const [, name = '', ...rest] = command.split(' ')
    const { out } = await typed([name, '--help-all'])
    for (const flag of rest.filter((word) => word.startsWith('--'))) match(out, new RegExp(` ${flag} `))
  })

/** Servers start, report that, and stop; in their own data directory where the page names none. */
for (const command of commandsOfPage.filter((each) => /^coxswain (up|apiserver)\b(?!.*--detach)/.test(each)))
  test(`${command} starts and stops`, async () => {
    const args = tilde(command)
    const folder = join(home, `started-${commandsOfPage.indexOf(command)}`)
    const more = [
      ...(args[0] === 'up' && !args.includes('--runtime') ? ['--runtime', 'simulated'] : []),
      ...(args.includes('--data-dir') ? [] : ['--data-dir', folder]),
    ]
    await mkdir(join(home, 'clusters'), { recursive: true })
    const started = await startProcess([...args, ...more, '--port', '0'])
    match(started.readyLine, /^ready in \d+ ms at https:/)
    equal(await started.end(), 0)
  })

test('a cluster in the background starts and ends as the page describes', async () => {
  const data = ['--data-dir', join(home, 'background')]
  const steps = commandsOfPage.filter((each) => / up --detach| down\b/.test(each))
  deepEqual(steps, ['coxswain up --detach', 'coxswain down', 'coxswain up --detach --wait'])
  const [start = '', end = '', startAndWait = ''] = steps
  for (const step of [start, startAndWait])
    try {
      const { code, out, err } = await typed([...tilde(step), '--runtime', 'simulated', '--port', '0', ...data])
      equal(code, 0, err)
      match(out, /^ready in \d+ ms at https:/)
    } finally {
      const { out } = await typed([...tilde(end), ...data])
      match(out, /^Process \d+ has ended\.\n$/)
    }
})

test('status, snapshot, restore and reset work as the page describes, in its order', async () => {
  const data = ['--data-dir', join(home, 'kept')]
  const steps = commandsOfPage.filter((each) => /^coxswain (status|snapshot|restore|reset)\b/.test(each))
  deepEqual(
    steps.map((each) => each.split(' ')[1]),
    ['status', 'snapshot', 'restore', 'reset'],
  )
  await writeFile(join(home, 'phrase'), 'correct horse battery staple', { mode: 0o600 })
  await using running = await startProcess(['up', '--runtime', 'simulated', '--port', '0', ...data])
  for (const step of steps) {
    if (step.startsWith('coxswain restore')) await running.end()
    const { code, err } = await typed([...tilde(step), ...data])
    equal(code, 0, `${step}: ${err}`)
  }
})

test('a Deployment becomes ready; flow and why describe it', async () => {
  await k('create', 'deployment', 'web', '--image=nginx', '--replicas=20')
  await k('rollout', 'status', 'deployment/web', '--timeout=100s')
  const flow = await typed(['flow', 'deployment', 'web'])
  match(flow.out, /5 kubelets\n[^]*create pods web-\S+ → 201 {2}×20\n/)
  ok(flow.out.split('\n').length < 80)
  match((await typed(['flow', 'deployment/web', '-o', 'mermaid', '-A'])).out, /^sequenceDiagram/)
  match((await typed(['why', 'deployment/web'])).out, /No problem found\. Checked: its rollout and its pods/)
  match((await typed(['flow', 'deployment/wbe'])).err, /not found in namespace "default"; did you mean web\?/)
})

test('reasons are given for what cannot be scheduled, bound or enforced', async () => {
  const manifest = join(home, 'stuck.yaml')
  await writeFile(manifest, stuck)
  await k('apply', '-f', manifest)
  await k('wait', '--for=jsonpath={.status.conditions[0].reason}=Unschedulable', 'pod/big', '--timeout=60s')
  const expected: [object: string, text: RegExp][] = [
    ['pod/big', /It cannot be scheduled: Unschedulable: 0\/5 nodes are available: 5 Insufficient cpu/],
    ['pvc/data', /not bound to a volume: its StorageClass local-path waits for the first pod/],
    ['networkpolicy/deny', /so does the network of simulated pods/],
    ['ingress/web', /No ingress controller has taken it/],
  ]
  for (const [object, text] of expected) {
    const { out } = await typed(['why', object])
    match(out, text)
    equal(out.includes('No problem found'), false, object)
  }
  await k('wait', '--for=condition=Established', 'crd/widgets.example.com', '--timeout=60s')
  match((await typed(['why', 'crd/widgets.example.com'])).out, /No problem found/)
})

test('the finalizer that blocks the deletion of a namespace is named', async () => {
  await k('create', 'namespace', 'held')
  await k('-n', 'held', 'create', 'configmap', 'kept')
  await k('-n', 'held', 'patch', 'configmap', 'kept', '-p', '{"metadata":{"finalizers":["example.com/hold"]}}')
  await k('delete', 'namespace', 'held', '--wait=false')
  await k('wait', '--for=condition=NamespaceFinalizersRemaining', 'ns/held', '--timeout=60s')
  match((await typed(['why', 'ns/held'])).out, /the namespace controller removes kubernetes[^]*example\.com\/hold/)
  match((await typed(['why', 'cm/kept', '-n', 'held'])).out, /no component of Coxswain removes example\.com\/hold/)
  await k('-n', 'held', 'patch', 'configmap', 'kept', '-p', '{"metadata":{"finalizers":null}}')
  await k('wait', '--for=delete', 'ns/held', '--timeout=60s')
})

test('help, mistakes, status and metrics', async () => {
  match((await typed([])).out, /^Run a cluster:\n {2}up /m)
  match((await typed(['version'])).out, /^coxswain \d/)
  match((await typed(['statsu'])).err, /unknown command "statsu"; did you mean status\?/)
  match((await typed(['up', '--ndoes', '3'])).err, /unknown flag --ndoes; did you mean --nodes\?/)
  match((await typed(['up', '--audit-policy-file', 'x'])).err, /has no effect without --audit-log-path/)
  const dead = await typed(['why', 'pod/a', '--kubeconfig', join(home, 'none')])
  match(dead.err, /cannot read the kubeconfig/)
  const status = await typed(['status', '--data-dir', join(home, 'main')])
  match(status.out, /nodes +5 of 5 ready; no pressure\n/)
  let metrics = ''
  const { signal } = new AbortController()
  for await (const piece of streamCoxswainPath(await readFile(kubeconfig, 'utf8'), '/metrics', signal)) metrics += piece
  for (const name of [
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_gc_duration_seconds_count',
    'etcd_request_duration_seconds_count',
    'workqueue_depth',
  ])
    match(metrics, new RegExp(`^${name}\\b`, 'm'))
})

const stuck = `
apiVersion: v1
kind: Pod
metadata: { name: big }
spec: { containers: [{ name: c, image: nginx, resources: { requests: { cpu: '64' } } }] }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ port: 80 }] }
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: deny }
spec: { podSelector: {} }
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: web }
spec: { defaultBackend: { service: { name: web, port: { number: 80 } } } }
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, kind: Widget }
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
`
