// Situations of volumes: a class that does not exist, and a volume with another access mode.
import { deployment } from './manifests.ts'
import { inDefault, type ManifestObject, type Situation } from './situation.ts'

const claim = (name: string, storageClassName: string, accessModes: readonly string[]): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default' },
  spec: { storageClassName, accessModes, resources: { requests: { storage: '1Gi' } } },
})

const usedBy = (name: string, claimName: string): ManifestObject =>
  deployment(name, { spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] } })

export const missingStorageClass: Situation = {
  name: 'missing-storage-class',
  story: 'The pod of the Deployment files stays Pending.',
  asked: inDefault('deployment/files'),
  symptom: 'does not exist',
  objects: [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'Immediate',
    },
    claim('files', 'fast', ['ReadWriteOnce']),
    usedBy('files', 'files'),
  ],
  hints: ['The pod waits for its volume.', 'kubectl get storageclass shows what exists.'],
}

export const accessMode: Situation = {
  name: 'access-mode',
  story: 'The PersistentVolumeClaim shared stays Pending, although there is a volume.',
  asked: inDefault('pvc/shared'),
  symptom: 'It is not bound',
  objects: [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'disk-1' },
      spec: {
        capacity: { storage: '5Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: '',
        hostPath: { path: '/data' },
      },
    },
    claim('shared', '', ['ReadWriteMany']),
  ],
  hints: ['A volume is bound if it offers everything that the claim needs.', 'Compare the access modes.'],
}
