// Claims that are created for pods.
import { aClass, aPod, claim, create, remove, scenario, volume } from '../scenario.ts'

const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' }
const ephemeral = (name: string, rest: object = {}, metadata: object = {}) => ({
  name,
  ephemeral: { volumeClaimTemplate: { metadata, spec: { ...spec, ...rest } } },
})

export const ephemeralScenarios = [
  scenario('a pod with an ephemeral volume', create(aPod('p', [ephemeral('x')]))),
  scenario(
    'labels and annotations of the template',
    create(aPod('p', [ephemeral('x', {}, { labels: { a: 'b' }, annotations: { c: 'd' } })])),
  ),
  scenario('two ephemeral volumes', create(aPod('p', [ephemeral('x'), ephemeral('y')]))),
  scenario('an ephemeral volume is bound', create(volume('v'), aPod('p', [ephemeral('x')]))),
  scenario(
    'a pod is deleted before it runs',
    create(volume('v', { persistentVolumeReclaimPolicy: 'Retain' }), aPod('p', [ephemeral('x')])),
    remove('pod', 'p'),
  ),
  scenario('a claim with the same name exists', create(claim('p-x')), create(aPod('p', [ephemeral('x')]))),
  scenario('one of two claims exists', create(claim('p-x')), create(aPod('p', [ephemeral('x'), ephemeral('y')]))),
  scenario(
    'an ephemeral volume of a class',
    create(aClass('fast', 'csi.example.com'), aPod('p', [ephemeral('x', { storageClassName: 'fast' })])),
  ),
  scenario('the claim of a pod is deleted', create(aPod('p', [ephemeral('x')])), remove('claim', 'p-x')),
  scenario('a scheduled pod with an ephemeral volume', create(aPod('p', [ephemeral('x')], { nodeName: 'n' }))),
]
