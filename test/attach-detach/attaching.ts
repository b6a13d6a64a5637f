// Scenarios: which volumes are attached, and how an attachment proceeds.
import { oneNode, scenario, attachedFirst, type Scenario } from './scenario.ts'

export const attaching: readonly Scenario[] = [
  scenario('the volume of a pod is attached', async (s) => {
    await oneNode(s)
    await s.pod('a', 'n1', ['v1'])
    await s.see()
    await s.attached('v1', 'n1')
    await s.see()
  }),
  scenario('without a CSIDriver object, volumes are attached', async (s) => {
    await s.node('n1')
    await s.volume('v1')
    await attachedFirst(s)
  }),
  scenario('a driver that needs no attachment', async (s) => {
    await oneNode(s, { attachRequired: false })
    await s.pod('a', 'n1', ['v1'])
    await s.see()
  }),
  scenario('a driver whose object is replaced by one that needs no attachment', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.removeDriver()
    await s.driver({ attachRequired: false })
    await s.wait(75)
    await s.see()
  }),
  scenario('an inline volume of a driver', async (s) => {
    await s.driver({ volumeLifecycleModes: ['Ephemeral', 'Persistent'] })
    await s.node('n1')
    await s.pod('a', 'n1', [], { volumes: [{ name: 'inline', csi: { driver: s.driverName } }] })
    await s.see()
  }),
  scenario('volumes of the node and of a file server', async (s) => {
    await s.node('n1')
    await s.volume('v1', { source: { hostPath: { path: '/data' } } })
    await s.volume('v2', { source: { nfs: { server: 'files.example.com', path: '/data' } } })
    await s.pod('a', 'n1', ['v1', 'v2'])
    await s.see()
  }),
  scenario('a volume of mode Block', async (s) => {
    await s.driver()
    await s.node('n1')
    await s.volume('v1', { volumeMode: 'Block' })
    await attachedFirst(s)
  }),
  scenario('a node that attaches its volumes itself', async (s) => {
    await s.driver()
    await s.node('n1', {})
    await s.volume('v1')
    await s.pod('a', 'n1', ['v1'])
    await s.see()
  }),
  scenario('a node whose annotation has another value', async (s) => {
    await s.driver()
    await s.node('n1', { 'volumes.kubernetes.io/controller-managed-attach-detach': 'false' })
    await s.volume('v1')
    await s.pod('a', 'n1', ['v1'])
    await s.see()
  }),
  scenario('a node that is annotated later', async (s) => {
    await s.driver()
    await s.node('n1', {})
    await s.volume('v1')
    await s.pod('a', 'n1', ['v1'])
    await s.see()
    await s.manage('n1')
    await s.attached('v1', 'n1')
    await s.see()
  }),
  scenario('a pod that is scheduled later', async (s) => {
    await oneNode(s)
    await s.pod('a', undefined, ['v1'])
    await s.see()
    await s.schedule('a', 'n1')
    await s.see()
  }),
  scenario('a pod on a node that is created later', async (s) => {
    await s.driver()
    await s.volume('v1')
    await s.pod('a', 'n1', ['v1'])
    await s.see()
    await s.node('n1')
    await s.attached('v1', 'n1')
    await s.see()
  }),
  scenario('a claim that is bound later', async (s) => {
    await s.driver()
    await s.node('n1')
    await s.volume('v1', { isBound: false })
    await s.pod('a', 'n1', ['v1'])
    await s.see()
    await s.bind('v1')
    await s.see()
  }),
  scenario('a claim that does not exist', async (s) => {
    await oneNode(s)
    await s.pod('a', 'n1', ['missing'])
    await s.see()
  }),
  scenario('an ephemeral volume with the claim of its pod', async (s) => {
    await s.driver()
    await s.node('n1')
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } }
    await s.pod('a', 'n1', [], { volumes: [{ name: 'data', ephemeral: { volumeClaimTemplate: { spec } } }] })
    await s.volume('v1', { claimName: 'a-data', owner: 'a' })
    await s.see()
  }),
  scenario('an ephemeral volume with the claim of another pod', async (s) => {
    await s.driver()
    await s.node('n1')
    await s.volume('v1', { claimName: 'a-data' })
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } }
    await s.pod('a', 'n1', [], { volumes: [{ name: 'data', ephemeral: { volumeClaimTemplate: { spec } } }] })
    await s.see()
  }),
  scenario('two volumes of a pod, of which one is attached', async (s) => {
    await oneNode(s)
    await s.volume('v2')
    await s.pod('a', 'n1', ['v1', 'v2'])
    await s.attached('v2', 'n1')
    await s.see()
    await s.attached('v1', 'n1')
    await s.see()
  }),
  scenario('two pods of a node use one volume', async (s) => {
    await oneNode(s)
    await s.pod('a', 'n1', ['v1'])
    await s.see()
    await s.pod('b', 'n1', ['v1'])
    await s.attached('v1', 'n1')
    await s.see()
    await s.remove('a')
    await s.see()
    await s.remove('b')
    await s.see()
  }),
  scenario('a second pod arrives after the attachment', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.pod('b', 'n1', ['v1'])
    await s.see()
  }),
  scenario('the driver fails, and then succeeds', async (s) => {
    await oneNode(s)
    await s.pod('a', 'n1', ['v1'])
    await s.attachError('v1', 'n1', 'rpc error: code = Internal desc = the disk is busy')
    await s.see()
    await s.attached('v1', 'n1')
    await s.wait(10)
    await s.see()
  }),
  scenario('the pod is removed after the driver has failed', async (s) => {
    await oneNode(s)
    await s.pod('a', 'n1', ['v1'])
    await s.attachError('v1', 'n1', 'rpc error: code = Internal desc = the disk is busy')
    await s.see()
    await s.remove('a')
    await s.wait(10)
    await s.see()
  }),
  scenario('the driver does not answer', async (s) => {
    await oneNode(s)
    await s.pod('a', 'n1', ['v1'])
    await s.wait(110)
    await s.see()
    await s.wait(20)
    await s.see()
    await s.remove('a')
    await s.wait(5)
    await s.see()
  }),
  scenario('a pod is removed while its volume is being attached', async (s) => {
    await oneNode(s)
    await s.pod('a', 'n1', ['v1'])
    await s.see()
    await s.remove('a')
    await s.wait(5)
    await s.see()
    await s.attached('v1', 'n1', { hasFinalizer: true })
    await s.wait(3)
    await s.see()
    await s.detached('v1', 'n1')
    await s.see()
  }),
  scenario('an attachment is deleted while the volume is being attached', async (s) => {
    await oneNode(s)
    await s.pod('a', 'n1', ['v1'])
    await s.see()
    await s.removeAttachment('v1', 'n1')
    await s.wait(5)
    await s.see()
  }),
  scenario('an attachment is deleted by hand', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.removeAttachment('v1', 'n1')
    await s.see()
    await s.wait(65)
    await s.see()
  }),
  scenario('the driver reports that the volume is no longer attached', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.attachmentStatus('v1', 'n1', { attached: false })
    await s.wait(65)
    await s.see()
  }),
  scenario('an attachment that another client has created', async (s) => {
    await oneNode(s)
    await s.makeAttachment('v1', 'n1')
    await s.wait(65)
    await s.see()
  }),
  scenario('an attachment with the name of ours exists', async (s) => {
    await oneNode(s)
    await s.makeAttachment('v1', 'n1', { isOwnName: true })
    await s.attached('v1', 'n1')
    await s.pod('a', 'n1', ['v1'])
    await s.see()
  }),
  scenario('another client changes the list of a node', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.setAttached('n1')
    await s.wait(65)
    await s.see()
  }),
]
