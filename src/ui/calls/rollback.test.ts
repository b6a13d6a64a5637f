// Roll back: the revisions of a workload, and the patch.
import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { earlierRevisions, rollBack, type RevisionObject } from './rollback.ts'

const ownerReferences = [{ uid: 'u1', controller: true }]
const template = (image: string, more = {}) => ({ spec: { containers: [{ name: 'c', image }] }, ...more })
const labelled = (labels: Record<string, string>) => ({ metadata: { labels } })

const replicaSet = (revision: string, image: string): RevisionObject => ({
  metadata: { annotations: { 'deployment.kubernetes.io/revision': revision }, ownerReferences },
  spec: { template: template(image, labelled({ app: 'web', 'pod-template-hash': '1' })) },
})
const controllerRevision = (revision: number, image: string): RevisionObject => ({
  metadata: { ownerReferences },
  revision,
  data: { spec: { template: template(image, { ...labelled({ app: 'web' }), $patch: 'replace' }) } },
})

for (const [name, objects] of [
  ['ReplicaSets', [replicaSet('9', 'a:9'), replicaSet('11', 'a:11'), replicaSet('10', 'a:10')]],
  [
    'ControllerRevisions',
    [controllerRevision(9, 'a:9'), controllerRevision(11, 'a:11'), controllerRevision(10, 'a:10')],
  ],
] as const)
  test(`the earlier revisions of ${name}, the newest first, with the template that the workload would have`, () => {
    const expected = [10, 9].map((revision) => ({
      revision,
      template: template(`a:${revision}`, labelled({ app: 'web' })),
    }))
    deepEqual(earlierRevisions('u1', objects), expected)
  })

test('those of other workloads, and objects without a revision, are none', () => {
  deepEqual(earlierRevisions('u2', [replicaSet('1', 'a'), replicaSet('2', 'b')]), [])
  deepEqual(earlierRevisions('u1', [replicaSet('x', 'a'), { metadata: { ownerReferences } }]), [])
})

test('the template is replaced as a whole; a paused workload is not rolled back', async () => {
  const sent: unknown[] = []
  const api = (paused: boolean) => ({
    read: async () => ({ spec: { paused }, metadata: {} }),
    delete: () => Promise.reject(new Error('not used')),
    patch: async (...request: unknown[]) => void sent.push(request.slice(0, 3)),
  })
  const { signal } = new AbortController()
  await rollBack(api(false), '/web', { revision: 1, template: template('a') }, signal)
  deepEqual(sent, [
    ['/web', 'application/strategic-merge-patch+json', { spec: { template: { ...template('a'), $patch: 'replace' } } }],
  ])
  await rejects(rollBack(api(true), '/web', { revision: 1, template: {} }, signal), /^Error: it is paused/)
})
