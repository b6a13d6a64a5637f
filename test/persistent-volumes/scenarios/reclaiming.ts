// What happens to volumes and claims when the other is deleted or changes.
import {
  claim,
  claimRef,
  create,
  csi,
  patch,
  patchStatus,
  provisionedBy,
  remove,
  scenario,
  volume,
} from '../scenario.ts'

const policy = (persistentVolumeReclaimPolicy: string) => ({ persistentVolumeReclaimPolicy })
const bothRemoved = (name: string, spec: object, metadata = {}) =>
  scenario(name, create(volume('b', spec, metadata), claim('c')), remove('claim', 'c'))
const local = {
  local: { path: '/srv/x' },
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n'] }] }],
    },
  },
}
const nfs = { nfs: { server: 'nfs.example.com', path: '/x' } }
const external = { finalizers: ['external-provisioner.volume.kubernetes.io/finalizer'] }

const iscsi = { iscsi: { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2026-11.com.example:x', lun: 0 } }
const ebs = { awsElasticBlockStore: { volumeID: 'vol-1' } }

export const reclaimingScenarios = [
  bothRemoved('Delete, a directory in /tmp', { ...policy('Delete'), hostPath: { path: '/tmp/coxswain-none/x' } }),
  bothRemoved('Delete, a volume of iscsi', { ...policy('Delete'), ...iscsi }),
  bothRemoved('Delete, a volume of EBS', { ...policy('Delete'), ...ebs }),
  bothRemoved('Recycle, a hostPath', policy('Recycle')),
  bothRemoved('Retain', policy('Retain')),
  bothRemoved('Delete, a hostPath', policy('Delete')),
  bothRemoved('Delete, a local volume', { ...policy('Delete'), ...local }),
  bothRemoved('Delete, a volume of nfs', { ...policy('Delete'), ...nfs }),
  bothRemoved('Delete, a volume of a driver that was not provisioned', { ...policy('Delete'), ...csi('h') }),
  bothRemoved(
    'Delete, a volume of an external provisioner',
    { ...policy('Delete'), ...csi('h') },
    provisionedBy('csi.example.com', external),
  ),
  bothRemoved('Delete, a hostPath of an external provisioner', policy('Delete'), provisionedBy('example.com/p')),
  bothRemoved(
    'Delete, a volume of an unknown provisioner of the project',
    policy('Delete'),
    provisionedBy('kubernetes.io/unknown'),
  ),
  bothRemoved(
    'Delete, a volume of a provisioner that has moved to a driver',
    { ...policy('Delete'), ...csi('h') },
    provisionedBy('kubernetes.io/aws-ebs'),
  ),
  bothRemoved(
    'Retain, a volume of a provisioner of the project',
    policy('Retain'),
    provisionedBy('kubernetes.io/unknown', { finalizers: ['kubernetes.io/pv-controller'] }),
  ),
  bothRemoved('Recycle, a local volume', { ...policy('Recycle'), ...local }),
  bothRemoved('Recycle, a volume of a driver', { ...policy('Recycle'), ...csi('h') }),
  scenario(
    'the finalizer of the project is added and removed',
    create(volume('b', policy('Delete'), provisionedBy('kubernetes.io/unknown'))),
    patch('volume', 'b', { spec: policy('Retain') }),
  ),
  scenario(
    'a released volume is not bound again',
    create(volume('b', policy('Retain')), claim('c')),
    remove('claim', 'c'),
    create(claim('d')),
  ),
  scenario(
    'the claim is created again',
    create(volume('b', policy('Retain')), claim('c')),
    remove('claim', 'c'),
    create(claim('c')),
  ),
  scenario(
    'a released volume is freed by hand',
    create(volume('b', policy('Retain')), claim('c')),
    remove('claim', 'c'),
    patch('volume', 'b', { spec: { claimRef: null } }),
    create(claim('d')),
  ),
  scenario(
    'the uid of a released volume is removed',
    create(volume('b', policy('Retain')), claim('c')),
    remove('claim', 'c'),
    patch('volume', 'b', { spec: { claimRef: { uid: null } } }),
    create(claim('c')),
  ),
  scenario(
    'the policy of a released volume becomes Delete',
    create(volume('b', policy('Retain')), claim('c')),
    remove('claim', 'c'),
    patch('volume', 'b', { spec: policy('Delete') }),
  ),
  scenario(
    'the policy of a failed volume becomes Retain',
    create(volume('b', policy('Delete')), claim('c')),
    remove('claim', 'c'),
    patch('volume', 'b', { spec: policy('Retain') }),
  ),
  scenario(
    'a failed volume is freed by hand',
    create(volume('b', policy('Delete')), claim('c')),
    remove('claim', 'c'),
    patch('volume', 'b', { spec: { claimRef: null } }),
  ),
  scenario('an available volume is deleted', create(volume('b')), remove('volume', 'b')),
  scenario('a bound volume is deleted', create(volume('b'), claim('c')), remove('volume', 'b')),
  scenario(
    'a bound volume is deleted, then its claim',
    create(volume('b', policy('Retain')), claim('c')),
    remove('volume', 'b'),
    remove('claim', 'c'),
  ),
  scenario(
    'a bound volume is lost',
    create(volume('b'), claim('c')),
    remove('volume', 'b'),
    patch('volume', 'b', { metadata: { finalizers: null } }),
  ),
  scenario(
    'a lost volume comes back',
    create(volume('b'), claim('c')),
    remove('volume', 'b'),
    patch('volume', 'b', { metadata: { finalizers: null } }),
    create(volume('b')),
  ),
  scenario(
    'a lost claim is deleted',
    create(volume('b'), claim('c')),
    remove('volume', 'b'),
    patch('volume', 'b', { metadata: { finalizers: null } }),
    remove('claim', 'c'),
  ),
  scenario(
    'the reference of a bound volume is removed',
    create(volume('b'), claim('c')),
    patch('volume', 'b', { spec: { claimRef: null } }),
  ),
  scenario(
    'the uid of a bound volume is removed',
    create(volume('b'), claim('c')),
    patch('volume', 'b', { spec: { claimRef: { uid: null } } }),
  ),
  scenario(
    'the annotations of a bound claim are removed',
    create(volume('b'), claim('c')),
    patch('claim', 'c', { metadata: { annotations: null } }),
  ),
  scenario(
    'the annotation of a bound volume is removed',
    create(volume('b'), claim('c')),
    patch('volume', 'b', { metadata: { annotations: null } }),
  ),
  scenario(
    'the phase of a bound volume is changed',
    create(volume('b'), claim('c')),
    patchStatus('volume', 'b', { phase: 'Available' }),
  ),
  scenario(
    'the phase of a bound claim is changed',
    create(volume('b'), claim('c')),
    patchStatus('claim', 'c', { phase: 'Pending' }),
  ),
  scenario(
    'the capacity of a bound claim is changed',
    create(volume('b'), claim('c')),
    patchStatus('claim', 'c', { capacity: { storage: '4Gi' } }),
  ),
  scenario(
    'the access modes of a bound claim are changed',
    create(volume('b'), claim('c')),
    patchStatus('claim', 'c', { accessModes: ['ReadWriteMany'] }),
  ),
  scenario(
    'a volume that was provisioned for a claim that is bound elsewhere',
    create(volume('a'), claim('c')),
    create(volume('b', { ...claimRef('c'), ...policy('Delete'), ...csi('h') }, provisionedBy('csi.example.com'))),
  ),
]
