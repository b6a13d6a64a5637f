// Which volume a claim is bound to.
import { aClass, claim, claimRef, create, patch, remove, scenario, size, volume } from '../scenario.ts'

const modes = (...accessModes: string[]) => ({ accessModes })
const capacity = (storage: string) => ({ capacity: { storage } })
const labelled = (labels: Record<string, string>) => ({ labels })
const once = 'ReadWriteOnce'
const many = 'ReadWriteMany'
const readMany = 'ReadOnlyMany'
const oncePod = 'ReadWriteOncePod'
const plain = aClass('fast', 'kubernetes.io/no-provisioner')
const csiVolume = { csi: { driver: 'csi.example.com', volumeHandle: 'h' } }
const fast = { storageClassName: 'fast' }

export const matchingScenarios = [
  scenario('a volume and a claim', create(volume('v'), claim('c'))),
  scenario('a claim, then a volume', create(claim('c')), create(volume('v'))),
  scenario('a volume alone', create(volume('v'))),
  scenario('a claim alone', create(claim('c'))),
  scenario(
    'the smallest volume',
    create(volume('a', capacity('8Gi')), volume('b', capacity('3Gi')), volume('c', capacity('5Gi'))),
    create(claim('claim', size('2Gi'))),
  ),
  scenario(
    'the exact size',
    create(volume('a', capacity('2Gi')), volume('b', capacity('3Gi'))),
    create(claim('c', size('2Gi'))),
  ),
  scenario(
    'sizes in other units',
    create(volume('a', capacity('1500M')), volume('b', capacity('1Gi'))),
    create(claim('c', size('1000Mi'))),
  ),
  scenario(
    'all volumes are too small',
    create(volume('a', capacity('1Gi')), volume('b', capacity('2Gi'))),
    create(claim('c', size('3Gi'))),
  ),
  scenario(
    'a too small volume, then a larger one',
    create(volume('a', capacity('1Gi')), claim('c', size('2Gi'))),
    create(volume('b', capacity('4Gi'))),
  ),
  scenario(
    'fewer access modes before a smaller size',
    create(volume('a', modes(once)), volume('b', { ...modes(once, readMany), ...capacity('2Gi') })),
    create(claim('c')),
  ),
  scenario(
    'more access modes than wanted',
    create(volume('a', modes(once, readMany, many))),
    create(claim('c', modes(many))),
  ),
  scenario(
    'an access mode that the volume does not have',
    create(volume('a', modes(once))),
    create(claim('c', modes(many))),
  ),
  scenario(
    'two access modes, of which one is missing',
    create(volume('a', modes(once))),
    create(claim('c', modes(once, readMany))),
  ),
  scenario(
    'two access modes in another order',
    create(volume('a', modes(readMany, once))),
    create(claim('c', modes(once, readMany))),
  ),
  scenario(
    'ReadWriteOncePod',
    create(volume('a', modes(once)), volume('b', modes(oncePod))),
    create(claim('c', modes(oncePod))),
  ),
  scenario('ReadWriteOnce and a volume with ReadWriteOncePod', create(volume('a', modes(oncePod))), create(claim('c'))),
  scenario('a class', create(plain, volume('a'), volume('b', fast)), create(claim('c', fast))),
  scenario('a class without an object', create(volume('b', fast)), create(claim('c', fast))),
  scenario(
    'a volume of another class',
    create(plain, volume('a', { storageClassName: 'slow' })),
    create(claim('c', fast)),
  ),
  scenario('no class and a volume with a class', create(volume('a', fast)), create(claim('c'))),
  scenario('a class and a volume without one', create(plain, volume('a')), create(claim('c', fast))),
  scenario(
    'a class in the annotations of both',
    create(plain, volume('a', {}, { annotations: { 'volume.beta.kubernetes.io/storage-class': 'fast' } })),
    create(
      claim(
        'c',
        { storageClassName: undefined },
        { annotations: { 'volume.beta.kubernetes.io/storage-class': 'fast' } },
      ),
    ),
  ),
  scenario(
    'a class in the annotation of the claim',
    create(plain, volume('a', fast)),
    create(
      claim(
        'c',
        { storageClassName: undefined },
        { annotations: { 'volume.beta.kubernetes.io/storage-class': 'fast' } },
      ),
    ),
  ),
  scenario(
    'labels',
    create(volume('a', {}, labelled({ tier: 'x' })), volume('b', capacity('9Gi'), labelled({ tier: 'y' }))),
    create(claim('c', { selector: { matchLabels: { tier: 'y' } } })),
  ),
  scenario(
    'labels that no volume has',
    create(volume('a', {}, labelled({ tier: 'x' }))),
    create(claim('c', { selector: { matchLabels: { tier: 'y' } } })),
  ),
  scenario(
    'label expressions',
    create(volume('a', {}, labelled({ tier: 'x' })), volume('b')),
    create(claim('c', { selector: { matchExpressions: [{ key: 'tier', operator: 'In', values: ['x', 'z'] }] } })),
  ),
  scenario(
    'a label expression for an absent label',
    create(volume('a', {}, labelled({ tier: 'x' })), volume('b')),
    create(claim('c', { selector: { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] } })),
  ),
  scenario(
    'a label that is added later',
    create(volume('a'), claim('c', { selector: { matchLabels: { tier: 'x' } } })),
    patch('volume', 'a', { metadata: { labels: { tier: 'x' } } }),
  ),
  scenario(
    'a block volume',
    create(volume('a', { volumeMode: 'Block' }), volume('b')),
    create(claim('c', { volumeMode: 'Block' })),
  ),
  scenario('a file system and a block volume', create(volume('a', { volumeMode: 'Block' })), create(claim('c'))),
  scenario('a block claim and a file system', create(volume('a')), create(claim('c', { volumeMode: 'Block' }))),
  scenario(
    'a volume that is being deleted',
    create(volume('a', {}, { finalizers: ['example.com/keep'] })),
    remove('volume', 'a'),
    create(claim('c')),
  ),
  scenario('two claims and one volume', create(volume('a')), create(claim('c')), create(claim('d'))),
  scenario(
    'two claims and two volumes',
    create(volume('a'), volume('b', capacity('7Gi'))),
    create(claim('c')),
    create(claim('d')),
  ),
  scenario(
    'a volume with an affinity to a node',
    create(
      volume('a', {
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['x'] }] }] },
        },
      }),
    ),
    create(claim('c')),
  ),
  scenario('a volume that is reserved for another claim', create(volume('a', claimRef('other'))), create(claim('c'))),
  scenario(
    'the attributes class of both',
    create(
      volume('a', { ...csiVolume, volumeAttributesClassName: 'gold' }),
      volume('b', csiVolume),
      claim('c', { volumeAttributesClassName: 'gold' }),
    ),
  ),
  scenario(
    'an attributes class that the volume does not have',
    create(volume('a', csiVolume), claim('c', { volumeAttributesClassName: 'gold' })),
  ),
  scenario(
    'an attributes class of the volume only',
    create(volume('a', { ...csiVolume, volumeAttributesClassName: 'gold' }), claim('c')),
  ),
  scenario(
    'a claim that is larger than its volume after a change',
    create(volume('a'), claim('c')),
    patch('volume', 'a', { spec: { capacity: { storage: '6Gi' } } }),
  ),
]
