// Feature gates and API versions of the flags.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { featuresOf, gatesOf, type FeatureFlagValues } from './feature-flags.ts'

const gate = 'CoordinatedLeaderElection=true'

const accepted: readonly (readonly [what: string, flags: FeatureFlagValues, isOn: boolean])[] = [
  ['nothing', {}, false],
  ['a gate with its version', { 'feature-gates': gate, 'runtime-config': 'coordination.k8s.io/v1beta1=true' }, true],
  ['a version without a value', { 'feature-gates': gate, 'runtime-config': 'coordination.k8s.io/v1beta1' }, true],
  ['all beta versions', { 'feature-gates': gate, 'runtime-config': 'api/beta=1' }, true],
  ['a version without its gate', { 'runtime-config': 'api/all=true' }, false],
  ['a gate that is off', { 'feature-gates': 'CoordinatedLeaderElection=False' }, false],
  ['the last of several values', { 'feature-gates': ` ${gate} , CoordinatedLeaderElection=f,` }, false],
]

for (const [what, flags, isOn] of accepted)
  test(`features of ${what}`, () => equal(featuresOf(flags).hasCoordinatedElection, isOn))

const rejected: readonly (readonly [what: string, flags: FeatureFlagValues, error: RegExp])[] = [
  ['a gate whose API is not served', { 'feature-gates': gate }, /needs the API of LeaseCandidates: --runtime-config/],
  [
    'a gate whose API is turned off',
    { 'feature-gates': gate, 'runtime-config': 'api/beta=true,coordination.k8s.io/v1beta1=false' },
    /needs the API/,
  ],
  ['another gate', { 'feature-gates': 'Other=true' }, /unrecognized feature gate: Other/],
  ['another version', { 'runtime-config': 'apps/v2=true' }, /unknown api groups apps\/v2/],
  ['a gate without a value', { 'feature-gates': 'CoordinatedLeaderElection' }, /missing bool value for Coord/],
  [
    'no truth value',
    { 'feature-gates': 'CoordinatedLeaderElection=yes' },
    /invalid value of CoordinatedLeaderElection=yes/,
  ],
  ['two equals signs', { 'feature-gates': 'CoordinatedLeaderElection=true=' }, /invalid value of Coord/],
]

for (const [what, flags, error] of rejected) test(`rejected: ${what}`, () => throws(() => featuresOf(flags), error))

test('a program without an API needs no version', () => {
  deepEqual(gatesOf({ 'feature-gates': gate }), { hasCoordinatedElection: true, hasNoPeerProxy: false })
  equal(gatesOf({ 'feature-gates': 'UnknownVersionInteroperabilityProxy=false' }).hasNoPeerProxy, true)
})
