// The announcer of load balancers' addresses: the commands and API requests that it makes from objects with hostile texts in
// any string field.
import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { FlowRecorder } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import { node } from '../../src/api/core/v1/node/node.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import { Informers } from '../../src/client/informer/informers.ts'
import { AddressAnnouncer } from '../../src/cloud/address-pool/address-announcer.ts'
import { AddressPool } from '../../src/cloud/address-pool/address-pool.ts'
import { NodeAnnouncedAddresses } from '../../src/machine/announced-addresses/node-announced-addresses.ts'
import { SimulatedKernelSettings } from '../../src/machine/kernel-settings/simulated-kernel-settings.ts'
import type { Processes } from '../../src/platform/process/processes.ts'
import * as base from './base-objects.ts'
import { commandViolations, inputViolations, targetViolations, type Violation } from './checks.ts'
import { recordedApi, type KindObjects } from './recorded-api.ts'
import { recordedPrograms, type RecordedPrograms } from './recorded-programs.ts'
import { reportOf, variantsOf, type BaseObject } from './variants.ts'

const ready = [{ type: 'Ready', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z', reason: 'x', message: 'x' }]
const readyNodeOf: BaseObject = (index) => {
  const made = base.nodeOf(index) as { readonly status: object }
  return { ...made, status: { ...made.status, conditions: ready } }
}
const sliceOf: BaseObject = (index) => base.endpointSliceOf(index)

/** A machine with one interface, to which every route leads. */
const machineOf = ({ processes }: RecordedPrograms): Pick<Processes, 'run'> => ({
  async run(command, args, options, signal) {
    await processes.run(command, args, options, signal)
    const links = [{ ifname: 'eth0', address: '02:00:00:00:00:01', addr_info: [] }]
    const stdout = args.includes('route') ? [{ dev: 'eth0' }] : links
    return { code: 0, stdout: args.includes('-j') ? JSON.stringify(stdout) : '', stderr: '' }
  },
})

async function effectsOf(objects: KindObjects) {
  const clock = new VirtualClock(Date.parse('2030-01-01T00:00:00Z'))
  const api = recordedApi([...plain, ...objects])
  const programs = recordedPrograms()
  const kernelSettings = new SimulatedKernelSettings()
  {
    await using tasks = new TaskGroup()
    const shared = { clock, random: seededRandom(1), log: silentLog }
    const announcer = new AddressAnnouncer({
      ...shared,
      client: api.client,
      flow: new FlowRecorder(clock),
      nodeName: base.nodeName,
      pool: AddressPool.parse('203.0.0.0/16'),
      informers: new Informers(api.client, shared, tasks),
      machine: new NodeAnnouncedAddresses({ processes: machineOf(programs), kernelSettings }),
    })
    tasks.start('announcer', (signal) => announcer.run(signal))
    await clock.advance('10s')
  }
  return { api, programs }
}

const violationsIn = ({ api, programs }: Awaited<ReturnType<typeof effectsOf>>): Violation[] => [
  ...programs.commands.flatMap(commandViolations),
  ...programs.inputs.flatMap(({ program, text }) => inputViolations(program, text)),
  ...[...api.targets].flatMap(targetViolations),
  ...api.unknown.map((target) => ({ text: `no resource: ${target}`, index: undefined })),
]

const plain: KindObjects = [
  { kind: node, object: readyNodeOf(0) },
  { kind: service, object: base.serviceOf(0) },
  { kind: endpointSlice, object: sliceOf(0) },
]
const kinds: readonly (readonly [kind: Kind, base: BaseObject, companions: (index: number) => KindObjects])[] = [
  [service, base.serviceOf, (index) => [{ kind: endpointSlice, object: sliceOf(index) }]],
  [endpointSlice, sliceOf, (index) => [{ kind: service, object: base.serviceOf(index) }]],
  [node, readyNodeOf, () => []],
]
const announced = ({ programs }: Awaited<ReturnType<typeof effectsOf>>) =>
  programs.inputs.some(({ text }) => text.includes('addr replace 203.0.0.1/32 dev eth0'))

test('without hostile texts, the address of a load balancer is announced', async () => {
  const effects = await effectsOf([])
  ok(announced(effects))
  deepEqual(violationsIn(effects), [])
})

for (const [kind, baseObject, companions] of kinds)
  test(`hostile texts in a ${kind.kind} are not commands of the announcer`, async () => {
    const found: string[] = []
    for (const variants of variantsOf(kind, baseObject)) {
      const objects = variants.map(({ object }) => ({ kind, object }))
      const effects = await effectsOf([...objects, ...variants.flatMap(({ index }) => companions(index))])
      found.push(...reportOf(violationsIn(effects), variants))
      ok(announced(effects), 'the address of another Service is announced')
    }
    deepEqual(found, [])
  })
