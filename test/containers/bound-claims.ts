// Persistent volumes that a test binds to claims itself, because only the node is under test.
import type { RealUp } from './up.harness.ts'

export const patch = (kind: string, name: string, body: object) => (up: RealUp) =>
  up.k(['patch', kind, name, '--type=merge', '-p', JSON.stringify(body)])

export const claim = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: {
    storageClassName: '',
    volumeName: name,
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Mi' } },
    ...more,
  },
})
export const volume = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: { storageClassName: '', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Mi' }, ...spec },
})

/** Binds a claim to the volume of the same name. */
export async function bind(up: RealUp, name: string): Promise<void> {
  const uid = await up.k(['get', 'pvc', name, '-o', 'jsonpath={.metadata.uid}'])
  await patch('pv', name, { spec: { claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name, uid } } })(
    up,
  )
  await patch('pvc', name, { metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } } })(up)
  await up.k(['patch', 'pvc', name, '--subresource=status', '--type=merge', '-p', '{"status":{"phase":"Bound"}}'])
}
