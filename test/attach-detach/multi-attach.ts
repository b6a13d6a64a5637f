// Scenarios: volumes that pods on several nodes use.
import { attachedFirst, scenario, twoNodes, type Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

async function secondNode(s: Stage, accessModes: readonly string[]): Promise<void> {
  await twoNodes(s, accessModes)
  await attachedFirst(s)
  await s.pod('b', 'n2', ['v1'])
  await s.see()
}

/** One volume with two PersistentVolumes, for claims in two namespaces. */
async function twoNamespaces(s: Stage): Promise<void> {
  await twoNodes(s)
  await s.volume('v2', { handle: 'v1', isElsewhere: true })
}

export const multiAttach: readonly Scenario[] = [
  ...['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany', 'ReadOnlyMany'].map((mode) =>
    scenario(`${mode}: pods on two nodes`, (s) => secondNode(s, [mode])),
  ),
  scenario('ReadWriteOnce and ReadOnlyMany: pods on two nodes', (s) =>
    secondNode(s, ['ReadWriteOnce', 'ReadOnlyMany']),
  ),
  scenario('ReadWriteMany: the pods are removed one after the other', async (s) => {
    await secondNode(s, ['ReadWriteMany'])
    await s.attached('v1', 'n2')
    await s.see()
    await s.remove('a')
    await s.see()
    await s.remove('b')
    await s.see()
  }),
  scenario('two pods use the volume on the first node', async (s) => {
    await twoNodes(s)
    await s.pod('a1', 'n1', ['v1'])
    await s.see()
    await s.pod('a2', 'n1', ['v1'])
    await s.attached('v1', 'n1')
    await s.see()
    await s.pod('b', 'n2', ['v1'])
    await s.see()
  }),
  scenario('two pods want the volume on the second node', async (s) => {
    await twoNodes(s)
    await attachedFirst(s)
    await s.pod('b1', 'n2', ['v1'])
    await s.see()
    await s.pod('b2', 'n2', ['v1'])
    await s.see()
  }),
  scenario('the pod that used the volume is removed, but the volume is still mounted', async (s) => {
    await twoNodes(s)
    await attachedFirst(s)
    await s.inUse('n1', 'v1')
    await s.remove('a')
    await s.pod('b', 'n2', ['v1'])
    await s.see()
    await s.inUse('n1')
    await s.see()
  }),
  scenario('the second pod gets the volume after the first is removed', async (s) => {
    await twoNodes(s)
    await attachedFirst(s)
    await s.pod('b', 'n2', ['v1'])
    await s.see()
    await s.remove('a')
    await s.attached('v1', 'n2')
    await s.see()
  }),
  scenario('the second pod waits while the volume is being attached to the first node', async (s) => {
    await twoNodes(s)
    await s.pod('a', 'n1', ['v1'])
    await s.see()
    await s.pod('b', 'n2', ['v1'])
    await s.see()
    await s.attached('v1', 'n1')
    await s.see()
  }),
  scenario('the driver has failed on the first node', async (s) => {
    await twoNodes(s)
    await s.pod('a', 'n1', ['v1'])
    await s.attachError('v1', 'n1', 'rpc error: code = Internal desc = the disk is busy')
    await s.see()
    await s.pod('b', 'n2', ['v1'])
    await s.wait(5)
    await s.see()
  }),
  scenario('pods in two namespaces', async (s) => {
    await twoNamespaces(s)
    await attachedFirst(s)
    await s.pod('b', 'n2', ['v2'], { isElsewhere: true })
    await s.see()
  }),
  scenario('pods in the same and in another namespace', async (s) => {
    await twoNamespaces(s)
    await s.pod('a1', 'n1', ['v1'])
    await s.attached('v1', 'n1')
    await s.pod('a2', 'n1', ['v2'], { isElsewhere: true })
    await s.see()
    await s.pod('b', 'n2', ['v1'])
    await s.see()
  }),
  scenario('the second pod is removed and returns', async (s) => {
    await twoNodes(s)
    await attachedFirst(s)
    await s.pod('b', 'n2', ['v1'])
    await s.see()
    await s.remove('b')
    await s.see()
    await s.pod('c', 'n2', ['v1'])
    await s.see()
  }),
]
