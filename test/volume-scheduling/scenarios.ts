// The scenarios of the storage plugins.
import type { Scenario, Stage } from './scenario.ts'

const scenario = (name: string, run: Scenario['run']): Scenario => ({ name, run })
const on = (hostname: string) => ({ nodeSelector: { 'kubernetes.io/hostname': hostname } })
const affinityTo = (hostname: string) => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [hostname] }] },
      ],
    },
  },
})
const zone = 'topology.kubernetes.io/zone'
const oldZone = 'failure-domain.beta.kubernetes.io/zone'
const immediate = { volumeBindingMode: 'Immediate' }
const manual = { provisioner: 'kubernetes.io/no-provisioner' }
const sized = { provisioner: 'sized.example.com' }
const template = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const ephemeral = [{ name: 'data', ephemeral: { volumeClaimTemplate: { spec: template } } }]
const disk = (readOnly: boolean) => [{ name: 'disk', gcePersistentDisk: { pdName: 'disk', readOnly } }]
const inline = [{ name: 'inline', csi: { driver: 'inline.example.com' } }]
const perPod = { accessModes: ['ReadWriteOncePod'] }

/** A class of volumes that are created by hand, and a claim. */
async function manualClass(s: Stage): Promise<void> {
  await s.class('m', manual)
  await s.claim('c', 'm')
}

export const scenarios: readonly Scenario[] = [
  // The first scenario, because a preemption considers all pods of a node.
  scenario('a claim for one pod that a pod of lower priority uses', async (s) => {
    await s.bound('c', perPod)
    await s.pod('q', ['c'], { nodeName: 'n1' })
    await s.pod('p', ['c'], { priorityClassName: 'high' })
  }),
  scenario('a claim that does not exist', (s) => s.pod('p', ['c'])),
  scenario('two claims that do not exist', (s) => s.pod('p', ['c', 'd'])),
  scenario('a claim that has lost its volume', async (s) => {
    await s.claim('c', '', { volumeName: 'gone' })
    await s.claimStatus('c', { phase: 'Lost' })
    await s.pod('p', ['c'])
  }),
  scenario('a claim that is being deleted', async (s) => {
    await s.bound('c')
    await s.removeClaim('c')
    await s.pod('p', ['c'])
  }),
  scenario('an unbound claim of a class with immediate binding', async (s) => {
    await s.class('i', immediate)
    await s.claim('c', 'i')
    await s.pod('p', ['c'])
  }),
  scenario('an unbound claim without a class', async (s) => {
    await s.claim('c', '')
    await s.pod('p', ['c'])
  }),
  scenario('an unbound claim of a class that does not exist', async (s) => {
    await s.claim('c', 'missing')
    await s.pod('p', ['c'])
  }),
  scenario('an unbound claim that names a volume', async (s) => {
    await s.class('w')
    await s.claim('c', 'w', { volumeName: 'somewhere' })
    await s.pod('p', ['c'])
  }),
  scenario('a delayed claim is provisioned for the node', async (s) => {
    await s.class('w')
    await s.claim('c', 'w')
    await s.pod('p', ['c'], on('n1'))
  }),
  scenario('a delayed claim whose class allows other zones only', async (s) => {
    await s.class('w', { allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ['a'] }] }] })
    await s.claim('c', 'w')
    await s.pod('p', ['c'], on('n2'))
  }),
  scenario('a delayed claim whose class allows the zone', async (s) => {
    await s.class('w', { allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ['b'] }] }] })
    await s.claim('c', 'w')
    await s.pod('p', ['c'])
  }),
  scenario('a delayed claim without volumes and provisioner', async (s) => {
    await manualClass(s)
    await s.pod('p', ['c'])
  }),
  scenario('a delayed claim and a volume of its class', async (s) => {
    await manualClass(s)
    await s.volumeOf('m', 'v', affinityTo('n2'))
    await s.pod('p', ['c'])
  }),
  scenario('a volume that is too small', async (s) => {
    await manualClass(s)
    await s.volumeOf('m', 'v', { capacity: { storage: '512Mi' } })
    await s.pod('p', ['c'])
  }),
  scenario('the smallest volume is chosen', async (s) => {
    await manualClass(s)
    await s.volumeOf('m', 'large', { capacity: { storage: '9Gi' } })
    await s.volumeOf('m', 'small', { capacity: { storage: '2Gi' } })
    await s.pod('p', ['c'])
  }),
  scenario('a volume with another access mode', async (s) => {
    await manualClass(s)
    await s.volumeOf('m', 'v', { accessModes: ['ReadWriteMany'] })
    await s.pod('p', ['c'])
  }),
  scenario('a volume with another volume mode', async (s) => {
    await manualClass(s)
    await s.volumeOf('m', 'v', { volumeMode: 'Block' })
    await s.pod('p', ['c'])
  }),
  scenario('a selector that the volume does not match', async (s) => {
    await s.class('m', manual)
    await s.claim('c', 'm', { selector: { matchLabels: { a: 'b' } } })
    await s.volumeOf('m', 'v')
    await s.pod('p', ['c'])
  }),
  scenario('two claims and one volume', async (s) => {
    await manualClass(s)
    await s.claim('d', 'm')
    await s.volumeOf('m', 'v')
    await s.pod('p', ['c', 'd'])
  }),
  scenario('a volume of another node', async (s) => {
    await manualClass(s)
    await s.volumeOf('m', 'v', affinityTo('n1'))
    await s.pod('p', ['c'], on('n2'))
  }),
  scenario('a claim with a selected node, and a pod for another node', async (s) => {
    await s.class('w')
    await s.claim('c', 'w', {}, { annotations: { 'volume.kubernetes.io/selected-node': 'n1' } })
    await s.pod('p', ['c'], on('n2'))
  }),
  scenario('a claim with a selected node, and a pod for any node', async (s) => {
    await s.class('w')
    await s.claim('c', 'w', {}, { annotations: { 'volume.kubernetes.io/selected-node': 'n2' } })
    await s.pod('p', ['c'])
  }),
  scenario('a bound volume', async (s) => {
    await s.bound('c', affinityTo('n2'))
    await s.pod('p', ['c'])
  }),
  scenario('a bound volume of another node', async (s) => {
    await s.bound('c', affinityTo('n1'))
    await s.pod('p', ['c'], on('n2'))
  }),
  scenario('bound volumes of two nodes', async (s) => {
    await s.bound('c', affinityTo('n1'))
    await s.bound('d', affinityTo('n2'))
    await s.pod('p', ['c', 'd'])
  }),
  scenario('a bound claim whose volume does not exist', async (s) => {
    await s.claim('c', '', { volumeName: 'gone' }, { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } })
    await s.claimStatus('c', { phase: 'Bound' })
    await s.pod('p', ['c'])
  }),
  scenario('a volume of another zone', async (s) => {
    await s.bound('c', {}, { [zone]: 'a' })
    await s.pod('p', ['c'], on('n2'))
  }),
  scenario('a volume of two zones', async (s) => {
    await s.bound('c', {}, { [zone]: 'b__c' })
    await s.pod('p', ['c'])
  }),
  scenario('a volume of a zone without nodes', async (s) => {
    await s.bound('c', {}, { [zone]: 'z' })
    await s.pod('p', ['c'])
  }),
  scenario('a volume with the former label of the zone', async (s) => {
    await s.bound('c', {}, { [oldZone]: 'z' })
    await s.pod('p', ['c'])
  }),
  scenario('a claim for one pod that another pod uses', async (s) => {
    await s.bound('c', perPod)
    await s.pod('q', ['c'], { nodeName: 'n1' })
    await s.pod('p', ['c'])
  }),
  scenario('an ephemeral volume without its claim', (s) => s.pod('p', [], {}, ephemeral)),
  scenario('an ephemeral volume with the claim of another object', async (s) => {
    await s.class('w')
    await s.claim('p-data', 'w')
    await s.pod('p', [], {}, ephemeral)
  }),
  scenario('a node that has the maximum number of volumes', async (s) => {
    for (const [name, nodeName] of [
      ['c', 'n1'],
      ['d', 'n2'],
    ] as const) {
      await s.bound(name, {}, {}, 'one.example.com')
      await s.pod(name, [name], { nodeName })
    }
    await s.bound('e', {}, {}, 'one.example.com')
    await s.pod('p', ['e'])
  }),
  scenario('a volume that the node already has does not count twice', async (s) => {
    await s.bound('c', {}, {}, 'same.example.com')
    await s.pod('q', ['c'], { nodeName: 'n1' })
    await s.pod('p', ['c'], on('n1'))
  }),
  scenario('attached volumes without pods count', async (s) => {
    for (const [name, nodeName] of [
      ['c', 'n1'],
      ['d', 'n2'],
    ] as const) {
      await s.bound(name, {}, {}, 'attached.example.com')
      await s.attachment(name, nodeName, 'attached.example.com')
    }
    await s.bound('e', {}, {}, 'attached.example.com')
    await s.pod('p', ['e'])
  }),
  scenario('a driver that can attach no volume', async (s) => {
    await s.bound('c', {}, {}, 'zero.example.com')
    await s.pod('p', ['c'])
  }),
  scenario('inline volumes', async (s) => {
    await s.pod('q', [], { nodeName: 'n1' }, inline)
    await s.pod('r', [], { nodeName: 'n2' }, inline)
    await s.pod('p', [], on('n1'), inline)
  }),
  scenario('a driver without published capacity', async (s) => {
    await s.class('s', sized)
    await s.claim('c', 's')
    await s.pod('p', ['c'])
  }),
  scenario('published capacity that is too small', async (s) => {
    await s.class('s', sized)
    await s.capacity('a', 's', 'a', { capacity: '512Mi' })
    await s.capacity('b', 's', 'b', { capacity: '2Gi', maximumVolumeSize: '512Mi' })
    await s.claim('c', 's')
    await s.pod('p', ['c'])
  }),
  scenario('published capacity of one zone', async (s) => {
    await s.class('s', sized)
    await s.capacity('a', 's', 'a', { capacity: '512Mi' })
    await s.capacity('b', 's', 'b', { capacity: '2Gi' })
    await s.claim('c', 's')
    await s.pod('p', ['c'])
  }),
  scenario('published capacity of another class', async (s) => {
    await s.class('s', sized)
    await s.class('t', sized)
    await s.capacity('a', 't', 'a', { capacity: '9Gi' })
    await s.claim('c', 's')
    await s.pod('p', ['c'])
  }),
  scenario('a disk that another pod writes', async (s) => {
    await s.pod('q', [], { nodeName: 'n1' }, disk(false))
    await s.pod('p', [], on('n1'), disk(false))
  }),
  scenario('a disk that pods read', async (s) => {
    await s.pod('q', [], { nodeName: 'n1' }, disk(true))
    await s.pod('p', [], on('n1'), disk(true))
  }),
]
