// Classes: binding modes, provisioners, the default class.
import {
  aClass,
  aPod,
  claim,
  claimRef,
  create,
  csi,
  defaultClass,
  patch,
  provisionedBy,
  remove,
  scenario,
  volume,
} from '../scenario.ts'

const fast = { storageClassName: 'fast' }
const late = { volumeBindingMode: 'WaitForFirstConsumer' }
const external = aClass('fast', 'csi.example.com')
const delayed = aClass('fast', 'csi.example.com', late)
const none = aClass('fast', 'kubernetes.io/no-provisioner', late)
const classless = { storageClassName: undefined }
const selectedNode = { annotations: { 'volume.kubernetes.io/selected-node': 'n' } }
const using = (name: string, claimName = 'c', spec = {}) =>
  aPod(name, [{ name: 'data', persistentVolumeClaim: { claimName } }], spec)
const select = patch('claim', 'c', { metadata: selectedNode })
const provisioned = (name: string) =>
  volume(
    name,
    { ...csi('h'), ...fast, ...claimRef('c'), persistentVolumeReclaimPolicy: 'Delete' },
    provisionedBy('csi.example.com'),
  )
const inTree = [
  'aws-ebs',
  'gce-pd',
  'azure-disk',
  'azure-file',
  'cinder',
  'vsphere-volume',
  'portworx-volume',
  'host-path',
  'local-volume',
  'nfs',
  'rbd',
  'iscsi',
  'unknown',
]

export const provisioningScenarios = [
  scenario('an external provisioner', create(external, claim('c', fast))),
  scenario(
    'an external provisioner creates the volume',
    create(external, claim('c', fast)),
    create(provisioned('pvc-1')),
  ),
  scenario(
    'an external provisioner creates the volume and the claim is deleted',
    create(external, claim('c', fast)),
    create(provisioned('pvc-1')),
    remove('claim', 'c'),
  ),
  scenario(
    'a static volume of a class with a provisioner',
    create(external, volume('v', fast)),
    create(claim('c', fast)),
  ),
  scenario(
    'a claim of an external provisioner, then a static volume',
    create(external, claim('c', fast)),
    create(volume('v', fast)),
  ),
  scenario('a class that does not exist', create(claim('c', fast))),
  scenario('a class that is created later', create(claim('c', fast)), create(external)),
  scenario(
    'another provisioner in the annotation',
    create(
      external,
      claim('c', fast, { annotations: { 'volume.beta.kubernetes.io/storage-provisioner': 'other.example.com' } }),
    ),
  ),
  scenario('no provisioner, immediate', create(aClass('fast', 'kubernetes.io/no-provisioner'), claim('c', fast))),
  ...inTree.map((name) =>
    scenario(
      `the provisioner kubernetes.io/${name}`,
      create(aClass('fast', `kubernetes.io/${name}`), claim('c', fast)),
    ),
  ),
  scenario(
    'a claim with a selector and an external provisioner',
    create(external, claim('c', { ...fast, selector: { matchLabels: { a: 'b' } } })),
  ),
  scenario(
    'a claim with a data source',
    create(external, claim('c', { ...fast, dataSource: { kind: 'PersistentVolumeClaim', name: 'other' } })),
  ),
  scenario('a claim waits for its first consumer', create(delayed, claim('c', fast))),
  scenario('a claim waits for a pod to be scheduled', create(delayed, claim('c', fast), using('p'))),
  scenario('a claim waits, then a pod uses it', create(delayed, claim('c', fast)), create(using('p'))),
  scenario(
    'a claim waits for a pod that is scheduled',
    create(delayed, claim('c', fast), using('p', 'c', { nodeName: 'n' })),
  ),
  scenario(
    'a claim of an ephemeral volume waits',
    create(
      delayed,
      aPod('p', [
        {
          name: 'x',
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...fast },
            },
          },
        },
      ]),
    ),
  ),
  scenario(
    'a delayed claim is not bound to a free volume',
    create(delayed, volume('v', fast)),
    create(claim('c', fast)),
  ),
  scenario(
    'a delayed claim is bound to a volume that names it',
    create(delayed, volume('v', { ...fast, ...claimRef('c') })),
    create(claim('c', fast)),
  ),
  scenario(
    'a delayed claim names its volume',
    create(delayed, volume('v', fast)),
    create(claim('c', { ...fast, volumeName: 'v' })),
  ),
  scenario('a delayed claim without a provisioner', create(none, volume('v', fast)), create(claim('c', fast))),
  scenario('a delayed claim with a selected node', create(delayed, claim('c', fast)), select),
  scenario(
    'a delayed claim with a selected node and a free volume',
    create(delayed, volume('v', fast), claim('c', fast, selectedNode)),
  ),
  scenario('a delayed claim with a selected node and no provisioner', create(none, claim('c', fast)), select),
  scenario(
    'a delayed claim with a selected node gets its volume',
    create(delayed, claim('c', fast)),
    select,
    create(provisioned('pvc-1')),
  ),
  scenario(
    'the selected node of a delayed claim is removed',
    create(delayed, claim('c', fast)),
    select,
    patch('claim', 'c', { metadata: { annotations: { 'volume.kubernetes.io/selected-node': null } } }),
  ),
  scenario(
    'the scheduler binds a delayed claim',
    create(none, volume('v', fast), claim('c', fast)),
    patch('volume', 'v', {
      spec: claimRef('c'),
      metadata: { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } },
    }),
  ),
  scenario('a claim without a class and no default class', create(claim('c', classless))),
  scenario(
    'a claim without a class is bound to a volume without one',
    create(volume('v')),
    create(claim('c', classless)),
  ),
  scenario(
    'the default class is assigned at creation',
    create(aClass('std', 'csi.example.com', {}, defaultClass)),
    create(claim('c', classless)),
  ),
  scenario(
    'the default class is assigned later',
    create(claim('c', classless)),
    create(aClass('std', 'csi.example.com', {}, defaultClass)),
  ),
  scenario(
    'a class becomes the default',
    create(claim('c', classless), aClass('std', 'csi.example.com')),
    patch('class', 'std', { metadata: defaultClass }),
  ),
  scenario(
    'the default class is not assigned to a claim with an empty class',
    create(claim('c')),
    create(aClass('std', 'csi.example.com', {}, defaultClass)),
  ),
  scenario(
    'the default class is not assigned to a bound claim',
    create(volume('v'), claim('c', classless)),
    create(aClass('std', 'csi.example.com', {}, defaultClass)),
  ),
  scenario(
    'a delayed default class is assigned later',
    create(claim('c', classless)),
    create(aClass('std', 'csi.example.com', late, defaultClass)),
  ),
  scenario(
    'a claim without a class prefers a volume without one to the default class',
    create(claim('c', classless)),
    create(volume('v')),
    create(aClass('std', 'csi.example.com', {}, defaultClass)),
  ),
]
