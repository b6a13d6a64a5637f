// Three servers are restarted one after the other while a client writes: every write succeeds at one of them, and objects of all kinds are
// served by all. With COXSWAIN_EARLIER=<path of bin/coxswain of an earlier version> they are upgraded from that version, so two versions run
// side by side meanwhile.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../src/base/observability/context.ts'
import { hasReason } from '../../src/api/errors/status-error.ts'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { connect } from '../../src/cluster/client/connect.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { coxswain } from '../process.ts'
import { until } from '../until.ts'
import { newMachines, type Machine } from './server-process.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const namespace = 'default'
const earlier = process.env['COXSWAIN_EARLIER'] || coxswain

const preserved = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: preserved }],
  },
}
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: {} }

async function kubectl({ kubeconfig }: Machine, args: readonly string[], input?: object): Promise<string> {
  const newest = kubectls().at(-1)
  if (newest === undefined) throw new Error('there is no kubectl')
  const options = input === undefined ? {} : { input: JSON.stringify(input) }
  const { code, out, err } = await runKubectl(newest, kubeconfig, args, options)
  equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
  return out.trim()
}

async function create({ kubeconfig }: Machine, name: string): Promise<void> {
  await using connection = await connect(kubeconfig)
  await connection.client.of(configMap).create({ metadata: { name } }, namespace, ctx)
}

/** Whether the write succeeded, at any of the servers. One that was not known to have been applied may have been. */
async function isWritten(machines: readonly Machine[], name: string): Promise<boolean> {
  for (const machine of machines)
    try {
      await create(machine, name)
      return true
    } catch (error) {
      if (hasReason(error, 'AlreadyExists')) return true
    }
  return false
}

test('servers are upgraded one after the other', { timeout: 900_000 }, async () => {
  await using made = await newMachines()
  const { machines } = made
  const [first, ...others] = machines
  for (const machine of machines) machine.program = earlier
  await first.start('--init')
  const token = (await first.command('token', 'create', '--server')).trim()
  for (const machine of others) await machine.start('--join', first.url, '--token', token)
  await kubectl(first, ['apply', '-f', '-'], definition)
  await kubectl(first, ['wait', 'crd/widgets.example.com', '--for=condition=Established', '--timeout=200s'])
  await kubectl(first, ['apply', '-f', '-'], widget)

  const written: string[] = []
  const failed: string[] = []
  const over = new AbortController()
  const writing = (async () => {
    for (let index = 0; !over.signal.aborted; index++) {
      const name = `c${index}`
      ;((await isWritten(machines, name)) ? written : failed).push(name)
    }
  })()
  try {
    for (const [index, machine] of machines.toReversed().entries()) {
      await machine.end()
      const before = written.length
      await until(() => written.length > before) // with one server fewer
      machine.program = coxswain
      await machine.start()
      for (const [at, each] of machines.entries()) {
        match(await kubectl(each, ['get', 'crd', '-o', 'name']), /widgets\.example\.com/)
        const patch = JSON.stringify({ spec: { [`step${index}`]: at } })
        await kubectl(each, ['patch', 'widget', 'w', '--type=merge', '-p', patch])
      }
    }
  } finally {
    over.abort()
    await writing
  }
  deepEqual(failed, [])
  for (const machine of machines) {
    const last = { step0: 2, step1: 2, step2: 2 }
    deepEqual(JSON.parse(await kubectl(machine, ['get', 'widget', 'w', '-o', 'jsonpath={.spec}'])), last)
    const found = new Set((await kubectl(machine, ['get', 'configmaps', '-o', 'name'])).split('\n'))
    deepEqual(
      written.filter((name) => !found.has(`configmap/${name}`)),
      [],
    )
  }
})
