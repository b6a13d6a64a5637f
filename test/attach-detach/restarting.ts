// Scenarios: the controller starts again. It reconstructs what is attached from nodes and VolumeAttachments.
import { attachedFirst, oneNode, scenario, twoNodes, type Scenario } from './scenario.ts'

export const restarting: readonly Scenario[] = [
  scenario('restart: an attached volume', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.restart()
    await s.see()
  }),
  scenario('restart: a volume that is being attached', async (s) => {
    await oneNode(s)
    await s.pod('a', 'n1', ['v1'])
    await s.see()
    await s.restart()
    await s.see()
    await s.attached('v1', 'n1')
    await s.see()
  }),
  scenario('restart: the volume was attached in between', async (s) => {
    await oneNode(s)
    await s.pod('a', 'n1', ['v1'])
    await s.see()
    await s.restart(() => s.attached('v1', 'n1'))
    await s.see()
  }),
  scenario('restart: the pod was removed in between', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.restart(() => s.remove('a'))
    await s.see()
  }),
  scenario('restart: the pod of a mounted volume was removed in between', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.inUse('n1', 'v1')
    await s.restart(() => s.remove('a'))
    await s.see()
    await s.inUse('n1')
    await s.see()
  }),
  scenario('restart: the pod of a volume that was being attached was removed in between', async (s) => {
    await oneNode(s)
    await s.pod('a', 'n1', ['v1'])
    await s.see()
    await s.restart(() => s.remove('a'))
    await s.wait(15)
    await s.see()
  }),
  scenario('restart: a volume that is being detached', async (s) => {
    await oneNode(s)
    await attachedFirst(s, { hasFinalizer: true })
    await s.remove('a')
    await s.see()
    await s.restart()
    await s.see()
    await s.detached('v1', 'n1')
    await s.wait(15)
    await s.see()
  }),
  scenario('restart: an attachment that another client has created', async (s) => {
    await oneNode(s)
    await s.makeAttachment('v1', 'n1')
    await s.see()
    await s.restart()
    await s.wait(15)
    await s.see()
  }),
  scenario('restart: an attachment of ours without a pod', async (s) => {
    await oneNode(s)
    await s.makeAttachment('v1', 'n1', { isOwnName: true })
    await s.see()
    await s.restart()
    await s.wait(15)
    await s.see()
  }),
  scenario('restart: a node lists a volume that has no attachment', async (s) => {
    await oneNode(s)
    await s.setAttached('n1', 'v1')
    await s.see()
    await s.restart()
    await s.wait(15)
    await s.see()
  }),
  scenario('restart: a node lists a volume whose attachment is gone, and a pod uses it', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.restart(() => s.removeAttachment('v1', 'n1'))
    await s.see()
    await s.wait(65)
    await s.see()
  }),
  scenario('restart: a node that no longer lists the volume', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.restart(() => s.setAttached('n1'))
    await s.wait(15)
    await s.see()
  }),
  scenario('restart: a pod on a second node', async (s) => {
    await twoNodes(s)
    await attachedFirst(s)
    await s.restart(() => s.pod('b', 'n2', ['v1']))
    await s.see()
  }),
  scenario('restart: an attachment of a volume that does not exist', async (s) => {
    await s.driver()
    await s.node('n1')
    await s.makeAttachment('missing', 'n1')
    await s.see()
    await s.restart()
    await s.wait(15)
    await s.see()
  }),
  scenario('restart: a node was removed in between', async (s) => {
    await oneNode(s)
    await attachedFirst(s)
    await s.restart(async () => {
      await s.remove('a')
      await s.removeNode('n1')
    })
    await s.wait(15)
    await s.see()
  }),
]
