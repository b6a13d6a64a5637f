// What handles objects of every kind handles custom ones: kubectl's commands, garbage collection, the deletion of a
// namespace, why and flow. Real processes and the real kubectl.
import { deepEqual, equal, match } from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { coxswain, newFolder, startUp, startUpIn } from '../process.ts'
import { kubectlEnvironment, kubectls, runKubectl } from '../kubectl.ts'

const text = { type: 'string' }
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'crontabs.stable.example.com' },
  spec: {
    group: 'stable.example.com',
    scope: 'Namespaced',
    names: { plural: 'crontabs', singular: 'crontab', kind: 'CronTab', shortNames: ['ct'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { schedule: text, replicas: { type: 'integer' } } },
              status: {
                type: 'object',
                properties: {
                  phase: text,
                  replicas: { type: 'integer' },
                  conditions: {
                    type: 'array',
                    items: { type: 'object', properties: { type: text, status: text, reason: text, message: text } },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
}

const cronTab = (name: string, metadata: object = {}, spec: object = { schedule: '* * * * *', replicas: 1 }) => ({
  apiVersion: 'stable.example.com/v1',
  kind: 'CronTab',
  metadata: { name, ...metadata },
  spec,
})
const listOf = (...items: readonly object[]) => ({ apiVersion: 'v1', kind: 'List', items })

interface Commands extends AsyncDisposable {
  readonly kubeconfig: string
  /** The output of a command that succeeds. */
  k(args: string, input?: object): Promise<string>
  /** The output and errors of a command that may fail. */
  tried(args: string, input?: object): Promise<{ code: number; all: string }>
}

async function withCronTabs(): Promise<Commands> {
  const kubectl = kubectls().at(-1)
  if (kubectl === undefined) throw new Error('there is no kubectl')
  const up = await startUp('--store', 'memory', '--runtime', 'simulated', '--nodes', '1')
  const tried = async (args: string, input?: object) => {
    const options = input === undefined ? {} : { input: JSON.stringify(input) }
    const { code, out, err } = await runKubectl(kubectl, up.kubeconfig, args.split(' '), options)
    return { code, all: out + err }
  }
  const k = async (args: string, input?: object) => {
    const { code, all } = await tried(args, input)
    equal(code, 0, `kubectl ${args}: ${all}`)
    return all
  }
  await k('apply -f -', definition)
  await k('wait --for=condition=Established crd/crontabs.stable.example.com --timeout=20s')
  return { kubeconfig: up.kubeconfig, k, tried, [Symbol.asyncDispose]: () => up[Symbol.asyncDispose]() }
}

const runCoxswain = (...args: string[]): Promise<{ readonly out: string; readonly err: string }> =>
  new Promise((resolve) => execFile(coxswain, args, (_, out, err) => resolve({ out, err })))

test('kubectl changes, waits for, compares, scales and prunes custom objects', async () => {
  await using commands = await withCronTabs()
  const { k, tried } = commands
  const labels = { app: 'cron' }
  equal(await k('apply -f -', cronTab('a', { labels })), 'crontab.stable.example.com/a created\n')
  equal((await tried('diff -f -', cronTab('a', { labels }))).code, 0)
  const changed = cronTab('a', { labels }, { schedule: '@daily', replicas: 1 })
  const difference = await tried('diff -f -', changed)
  equal(difference.code, 1)
  match(difference.all, /-  schedule: '\* \* \* \* \*'\n\+  schedule: '@daily'/)

  equal(await k('label ct a tier=x'), 'crontab.stable.example.com/a labeled\n')
  equal(await k('annotate ct a note=x'), 'crontab.stable.example.com/a annotated\n')
  equal(await k('get ct -l tier=x -o name'), 'crontab.stable.example.com/a\n')

  equal(await k('scale ct/a --replicas=4'), 'crontab.stable.example.com/a scaled\n')
  match((await tried('scale ct/a --current-replicas=2 --replicas=5')).all, /Expected replicas to be 2, was 4/)
  equal(await k('get ct a -o jsonpath={.spec.replicas}'), '4')
  match(await k('get ct a --subresource=scale'), /^NAME +DESIRED +AVAILABLE +AGE\na +4 +0 +\d+s\n$/)
  match(await k('autoscale ct/a --min=1 --max=3 --cpu=50%'), /horizontalpodautoscaler.autoscaling\/a autoscaled/)
  const target = JSON.parse(await k('get hpa a -o jsonpath={.spec.scaleTargetRef}')) as object
  deepEqual(target, { apiVersion: 'stable.example.com/v1', kind: 'CronTab', name: 'a' })
  match(
    (await tried('patch ct a --type=merge -p {"spec":{"replicas":-1}}')).all,
    /The CronTab "a" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative integer/,
  )

  const ready = k('wait --for=condition=Ready ct/a --timeout=60s')
  const running = k('wait --for=jsonpath={.status.phase}=Running ct/a --timeout=60s')
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  await k(`patch ct a --subresource=status --type=merge -p ${JSON.stringify({ status })}`)
  deepEqual(await Promise.all([ready, running]), Array(2).fill('crontab.stable.example.com/a condition met\n'))

  const pruning = 'apply --prune -l app=cron --prune-allowlist=stable.example.com/v1/CronTab -f -'
  const pruned = await k(pruning, listOf(cronTab('b', { labels })))
  match(pruned, /crontab\.stable\.example\.com\/b created\ncrontab\.stable\.example\.com\/a pruned\n/)
  equal(await k('delete ct b'), 'crontab.stable.example.com "b" deleted from default namespace\n')
})

/** A custom owner with two dependents: a ConfigMap and another custom object. */
async function family(commands: Commands, name: string, finalizers: readonly string[] = []): Promise<void> {
  const { k } = commands
  await k('create -f -', cronTab(name))
  const uid = await k(`get ct ${name} -o jsonpath={.metadata.uid}`)
  const ownerReferences = [
    { apiVersion: 'stable.example.com/v1', kind: 'CronTab', name, uid, blockOwnerDeletion: true, controller: true },
  ]
  const map = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${name}-map`, ownerReferences, finalizers },
  }
  await k('create -f -', listOf(map, cronTab(`${name}-child`, { ownerReferences })))
}

test('garbage collection follows owner references between custom and built-in objects', async () => {
  await using commands = await withCronTabs()
  const { k, tried } = commands
  const isGone = async (object: string) => equal((await tried(`get ${object}`)).code, 1)

  await family(commands, 'background')
  await k('delete ct background')
  await k('wait --for=delete cm/background-map ct/background-child --timeout=60s')

  await family(commands, 'orphan')
  await k('delete ct orphan --cascade=orphan')
  await isGone('ct/orphan')
  equal(await k('get cm orphan-map -o jsonpath={.metadata.ownerReferences}'), '')
  equal(await k('get ct orphan-child -o jsonpath={.metadata.ownerReferences}'), '')

  await family(commands, 'foreground', ['example.com/hold'])
  await k('delete ct foreground --cascade=foreground --wait=false')
  await k('wait --for=delete ct/foreground-child --timeout=60s')
  const reason = await runCoxswain('why', 'crontab/foreground', '--kubeconfig', commands.kubeconfig)
  match(reason.out, /the garbage collector removes foregroundDeletion when the objects that it owns are gone/)
  await k('patch cm foreground-map --type=merge -p {"metadata":{"finalizers":null}}')
  await k('wait --for=delete ct/foreground cm/foreground-map --timeout=60s')
})

test('a namespace is deleted with its custom objects, after their finalizers', async () => {
  await using commands = await withCronTabs()
  const { k } = commands
  await k('create namespace shop')
  await k('create -n shop -f -', listOf(cronTab('a'), cronTab('b', { finalizers: ['example.com/hold'] })))
  await k('delete namespace shop --wait=false')
  await k('wait -n shop --for=delete ct/a --timeout=60s')
  await k('wait --for=condition=NamespaceFinalizersRemaining ns/shop --timeout=60s')
  match(
    await k('get ns shop -o jsonpath={.status.conditions[?(@.type=="NamespaceContentRemaining")].message}'),
    /crontabs\.stable\.example\.com has 1 resource instances/,
  )
  await k('patch -n shop ct b --type=merge -p {"metadata":{"finalizers":null}}')
  await k('wait --for=delete ns/shop --timeout=60s')
})

test('why and flow find custom objects', async () => {
  await using commands = await withCronTabs()
  const { k, kubeconfig } = commands
  await k('create -f -', cronTab('a'))
  const condition = { type: 'Ready', status: 'False', reason: 'NoImage', message: 'image-missing' }
  const status = { conditions: [condition] }
  await k(`patch ct a --subresource=status --type=merge -p ${JSON.stringify({ status })}`)
  for (const name of ['ct', 'crontabs.stable.example.com']) {
    const { out } = await runCoxswain('why', `${name}/a`, '--kubeconfig', kubeconfig)
    equal(out, 'crontab/a\n  Its condition Ready is False: NoImage: image-missing.\n')
  }
  const flow = await runCoxswain('flow', 'ct/a', '-o', 'tree', '--kubeconfig', kubeconfig)
  match(flow.out, /create crontabs a/)
  const unknown = await runCoxswain('why', 'crontap/a', '--kubeconfig', kubeconfig)
  match(unknown.err, /unknown kind "crontap"; did you mean crontab\?/)
})

test('kubectl shows the events of a custom object', async () => {
  await using commands = await withCronTabs()
  const { k } = commands
  await k('create -f -', cronTab('a'))
  const uid = await k('get ct a -o jsonpath={.metadata.uid}')
  const involvedObject = { apiVersion: 'stable.example.com/v1', kind: 'CronTab', name: 'a', namespace: 'default', uid }
  await k('create -f -', {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'a.1', namespace: 'default' },
    involvedObject,
    reason: 'Scheduled',
    message: 'it runs at three',
    type: 'Normal',
    source: { component: 'cron-operator' },
  })
  match(await k('describe ct a'), /Events:[^]*Normal +Scheduled .*cron-operator +it runs at three/)
  match(await k('events --for crontab.stable.example.com/a'), /Normal +Scheduled +CronTab\/a +it runs at three/)
})

test('kubectl watches custom objects', async () => {
  await using commands = await withCronTabs()
  const { k, kubeconfig } = commands
  const [kubectl] = kubectls().slice(-1)
  const child = spawn(kubectl?.path ?? '', 'get ct -w --output-watch-events --no-headers'.split(' '), {
    env: kubectlEnvironment(kubeconfig),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = async () => String((await lines.next()).value).split(/ +/, 2)
    await k('create -f -', cronTab('a'))
    deepEqual(await next(), ['ADDED', 'a'])
    await k('patch ct a --type=merge -p {"spec":{"replicas":2}}')
    deepEqual(await next(), ['MODIFIED', 'a'])
    await k('delete ct a')
    deepEqual(await next(), ['DELETED', 'a'])
  } finally {
    child.kill()
  }
})

test('a snapshot contains definitions and their objects', async () => {
  const kubectl = kubectls().at(-1)
  if (kubectl === undefined) throw new Error('there is no kubectl')
  const folder = await newFolder()
  const elsewhere = await newFolder()
  const k = async (kubeconfig: string, args: string, input?: object) => {
    const options = input === undefined ? {} : { input: JSON.stringify(input) }
    const { code, out, err } = await runKubectl(kubectl, kubeconfig, args.split(' '), options)
    equal(code, 0, `kubectl ${args}: ${err}`)
    return out
  }
  try {
    const copy = join(folder, 'copy')
    {
      await using first = await startUpIn(folder, '--nodes', '0')
      await k(first.kubeconfig, 'apply -f -', definition)
      await k(first.kubeconfig, 'wait --for=condition=Established crd/crontabs.stable.example.com --timeout=20s')
      await k(first.kubeconfig, 'create -f -', cronTab('a', { labels: { kept: 'yes' } }))
      const { err } = await runCoxswain('snapshot', copy, '--data-dir', join(folder, 'data'))
      equal(err.includes('error'), false, err)
    }
    const { err } = await runCoxswain('restore', copy, '--data-dir', join(elsewhere, 'data'))
    equal(err.includes('error'), false, err)
    await using restored = await startUpIn(elsewhere, '--nodes', '0')
    equal(
      await k(restored.kubeconfig, 'get ct a -o jsonpath={.metadata.labels.kept}/{.spec.schedule}'),
      'yes/* * * * *',
    )
    await k(restored.kubeconfig, 'create -f -', cronTab('b'))
    equal(await k(restored.kubeconfig, 'get ct -o jsonpath={.items[*].metadata.name}'), 'a b')
  } finally {
    for (const one of [folder, elsewhere]) await rm(one, { recursive: true, force: true })
  }
})
