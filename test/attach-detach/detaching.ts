// Scenarios: when volumes are detached.
import { attachedFirst, oneNode, scenario, twoNodes, type Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

const running = { phase: 'Running', containerStatuses: [status({ running: {} })] }
const exited = { containerStatuses: [status({ terminated: { exitCode: 0 } })] }

function status(state: object): object {
  return { name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, state }
}

/** The pod of an attached volume that its kubelet has mounted is removed. */
async function removedInUse(s: Stage): Promise<void> {
  await oneNode(s)
  await attachedFirst(s)
  await s.inUse('n1', 'v1')
  await s.remove('a')
}

export const detaching: readonly Scenario[] = [
  scenario('a pod is removed', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.remove('a')
    await s.see()
  }),
  scenario('a pod is removed, and the driver takes its time', async (s) => {
    await oneNode(s)
    await attachedFirst(s, { hasFinalizer: true })
    await s.remove('a')
    await s.see()
    await s.detached('v1', 'n1')
    await s.see()
  }),
  scenario('a pod returns while its volume is being detached', async (s) => {
    await oneNode(s)
    await attachedFirst(s, { hasFinalizer: true })
    await s.remove('a')
    await s.see()
    await s.pod('a', 'n1', ['v1'])
    await s.see()
    await s.detached('v1', 'n1')
    await s.wait(3)
    await s.see()
  }),
  scenario('the driver fails to detach', async (s) => {
    await oneNode(s)
    await attachedFirst(s, { hasFinalizer: true })
    await s.remove('a')
    await s.see()
    await s.detachError('v1', 'n1', 'rpc error: code = Internal desc = the disk is busy')
    await s.wait(5)
    await s.see()
    await s.detached('v1', 'n1')
    await s.wait(10)
    await s.see()
  }),
  scenario('the driver does not answer a deletion', async (s) => {
    await oneNode(s)
    await attachedFirst(s, { hasFinalizer: true })
    await s.remove('a')
    await s.wait(130)
    await s.see()
    await s.detached('v1', 'n1')
    await s.wait(5)
    await s.see()
  }),
  scenario('a volume that is still mounted', async (s) => {
    await removedInUse(s)
    await s.see()
    await s.inUse('n1')
    await s.see()
  }),
  scenario('a mounted volume whose pod returns', async (s) => {
    await removedInUse(s)
    await s.see()
    await s.pod('b', 'n1', ['v1'])
    await s.see()
    await s.inUse('n1')
    await s.see()
  }),
  scenario('a pod has succeeded', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.podStatus('a', { phase: 'Succeeded' })
    await s.see()
  }),
  scenario('a pod has failed', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.podStatus('a', { phase: 'Failed' })
    await s.see()
  }),
  scenario('the former annotation for keeping volumes of pods that have ended is ignored', async (s) => {
    await s.driver()
    await s.node('n1', {
      'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      'volumes.kubernetes.io/keep-terminated-pod-volumes': 'true',
    })
    await s.volume('v1')
    await attachedFirst(s)
    await s.podStatus('a', { phase: 'Succeeded' })
    await s.see()
    await s.remove('a')
    await s.see()
  }),
  scenario('a pod that ends', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.podStatus('a', running)
    await s.terminate('a')
    await s.see()
    await s.podStatus('a', exited)
    await s.see()
  }),
  scenario('a pod that ends before its containers are known', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.terminate('a')
    await s.see()
  }),
  scenario('a pod that has ended before its volume was attached', async (s) => {
    await oneNode(s)
    await s.pod('a', undefined, ['v1'])
    await s.podStatus('a', { phase: 'Failed' })
    await s.see()
  }),
  scenario('a node is removed, and its pod with it', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.inUse('n1', 'v1')
    await s.removeNode('n1')
    await s.see()
    await s.remove('a')
    await s.wait(5)
    await s.see()
  }),
  scenario('a node that is removed used the volume: it is detached after six minutes', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.inUse('n1', 'v1')
    await s.remove('a')
    await s.removeNode('n1')
    await s.wait(330)
    await s.see()
    await s.wait(40)
    await s.see()
  }),
  scenario('a node is removed, and its pod is garbage', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.removeNode('n1')
    await s.wait(90)
    await s.see()
  }),
  scenario('a node that is not ready does not use the volume', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.ready('n1', 'False')
    await s.remove('a')
    await s.see()
  }),
  scenario('a node that is not ready uses the volume for more than six minutes', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.inUse('n1', 'v1')
    await s.ready('n1', 'False')
    await s.remove('a')
    await s.wait(330)
    await s.see()
    await s.wait(40)
    await s.see()
  }),
  scenario('a node that is ready uses the volume for more than six minutes', async (s) => {
    await removedInUse(s)
    await s.wait(370)
    await s.see()
    await s.ready('n1', 'False')
    await s.see()
  }),
  scenario('the six minutes begin again when a pod has used the volume in between', async (s) => {
    await removedInUse(s)
    await s.wait(200)
    await s.pod('b', 'n1', ['v1'])
    await s.see()
    await s.remove('b')
    await s.ready('n1', 'False')
    await s.wait(200)
    await s.see()
    await s.wait(170)
    await s.see()
  }),
  scenario('a node out of service that is not ready', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.podStatus('a', running)
    await s.inUse('n1', 'v1')
    await s.ready('n1', 'False')
    await s.see()
    await s.taintOutOfService('n1')
    await s.wait(45)
    await s.see()
  }),
  scenario('a node out of service that is ready', async (s) => {
    await removedInUse(s)
    await s.see()
    await s.taintOutOfService('n1')
    await s.wait(5)
    await s.see()
  }),
  scenario('a node out of service whose pod has no deletion timestamp', async (s) => {
    await oneNode(s)
    await s.pod('a', 'n1', ['v1'])
    await s.attached('v1', 'n1')
    await s.inUse('n1', 'v1')
    await s.taintOutOfService('n1')
    await s.see()
  }),
  scenario('a claim is removed while a pod uses it', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.removeClaim('v1')
    await s.wait(65)
    await s.see()
  }),
  scenario('a pod moves to another node', async (s) => {
    await twoNodes(s)
    await attachedFirst(s, { hasFinalizer: true })
    await s.inUse('n1', 'v1')
    await s.remove('a')
    await s.pod('a', 'n2', ['v1'])
    await s.see()
    await s.inUse('n1')
    await s.see()
    await s.detached('v1', 'n1')
    await s.attached('v1', 'n2')
    await s.see()
  }),
]
