// Claims that name their volume, and volumes that name their claim.
import { aClass, claim, claimRef, create, csi, patch, remove, scenario, size, volume } from '../scenario.ts'

const named = (volumeName: string, rest: object = {}) => ({ volumeName, ...rest })
const capacity = (storage: string) => ({ capacity: { storage } })
const fast = { storageClassName: 'fast' }
const plain = aClass('fast', 'kubernetes.io/no-provisioner')
const bound = { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' }

export const prebindingScenarios = [
  scenario(
    'a claim names its volume',
    create(volume('a', capacity('1Gi')), volume('b')),
    create(claim('c', named('b'))),
  ),
  scenario('a claim names a volume that does not exist', create(claim('c', named('b')))),
  scenario('a claim names a volume that is created later', create(claim('c', named('b'))), create(volume('b'))),
  scenario(
    'a claim names a volume that is too small',
    create(volume('b', capacity('1Gi')), claim('c', named('b', size('2Gi')))),
  ),
  scenario('a claim names a volume of another class', create(plain, volume('b', fast), claim('c', named('b')))),
  scenario('a claim names a volume of its class', create(plain, volume('b', fast), claim('c', named('b', fast)))),
  scenario(
    'a claim without a class field names a volume with a class',
    create(plain, volume('b', fast), claim('c', named('b', { storageClassName: undefined }))),
  ),
  scenario(
    'a claim names a volume with another volume mode',
    create(volume('b', { volumeMode: 'Block' }), claim('c', named('b'))),
  ),
  scenario(
    'a claim names a volume with another access mode',
    create(volume('b'), claim('c', named('b', { accessModes: ['ReadWriteMany'] }))),
  ),
  scenario(
    'a claim names a volume with another attributes class',
    create(volume('b', { ...csi('h'), volumeAttributesClassName: 'gold' }), claim('c', named('b'))),
  ),
  scenario(
    'a claim names a volume whose labels do not match',
    create(volume('b'), claim('c', named('b', { selector: { matchLabels: { x: 'y' } } }))),
  ),
  scenario(
    'a claim names a volume that is bound to another claim',
    create(volume('b'), claim('d')),
    create(claim('c', named('b'))),
  ),
  scenario(
    'a claim names a volume that is reserved for another claim',
    create(volume('b', claimRef('d'))),
    create(claim('c', named('b'))),
  ),
  scenario(
    'a claim names a volume that is released',
    create(volume('b'), claim('d')),
    remove('claim', 'd'),
    create(claim('c', named('b'))),
  ),
  scenario(
    'a claim is given the name of its volume',
    create(volume('b', fast), claim('c', { storageClassName: undefined })),
    patch('claim', 'c', { spec: { volumeName: 'b' } }),
  ),
  scenario(
    'a volume names its claim',
    create(volume('a', capacity('1Gi')), volume('b', claimRef('c'))),
    create(claim('c')),
  ),
  scenario('a volume names its claim and waits', create(volume('b', claimRef('c')))),
  scenario('a claim, then a volume that names it', create(claim('c')), create(volume('b', claimRef('c')))),
  scenario(
    'a volume of another class names its claim',
    create(plain, volume('b', { ...fast, ...claimRef('c') })),
    create(claim('c')),
  ),
  scenario(
    'a volume names a claim whose labels do not match',
    create(volume('b', claimRef('c'))),
    create(claim('c', { selector: { matchLabels: { x: 'y' } } })),
  ),
  scenario(
    'a volume names a claim that is larger',
    create(volume('b', { ...claimRef('c'), ...capacity('1Gi') })),
    create(claim('c', size('2Gi'))),
  ),
  scenario(
    'a volume names a claim with another volume mode',
    create(volume('b', { ...claimRef('c'), volumeMode: 'Block' })),
    create(claim('c')),
  ),
  scenario(
    'a volume names a claim with another access mode',
    create(volume('b', claimRef('c'))),
    create(claim('c', { accessModes: ['ReadWriteMany'] })),
  ),
  scenario(
    'a volume with more access modes names its claim, and another is free',
    create(volume('a'), volume('b', { ...claimRef('c'), accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] })),
    create(claim('c')),
  ),
  scenario(
    'a volume names a claim with another uid',
    create(claim('c')),
    create(volume('b', claimRef('c', { uid: '11111111-2222-3333-4444-555555555555' }))),
  ),
  scenario('both name each other', create(volume('b', claimRef('c'))), create(claim('c', named('b')))),
  scenario(
    'both name each other, of different classes',
    create(plain, volume('b', { ...fast, ...claimRef('c') })),
    create(claim('c', named('b'))),
  ),
  scenario(
    'a volume names a claim that is bound elsewhere',
    create(volume('a'), claim('c')),
    create(volume('b', claimRef('c'))),
  ),
  scenario(
    'a volume with the uid of a claim that is bound elsewhere is released',
    create(volume('a'), claim('c')),
    create(volume('b', claimRef('c'))),
    create(claim('d')),
  ),
  scenario(
    'a claim that is bound by someone else',
    create(volume('b'), claim('c', named('b'), { annotations: bound })),
  ),
  scenario('a claim that is bound by someone else to no volume', create(claim('c', {}, { annotations: bound }))),
  scenario(
    'a claim that is bound by someone else to a volume that does not exist',
    create(claim('c', named('b'), { annotations: bound })),
  ),
  scenario(
    'a claim that is bound by someone else to a volume of another claim',
    create(volume('b'), claim('d')),
    create(claim('c', named('b'), { annotations: bound })),
  ),
  scenario(
    'a reservation is removed',
    create(volume('b', claimRef('d')), claim('c')),
    patch('volume', 'b', { spec: { claimRef: null } }),
  ),
]
