import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { parseReachTarget, targetText } from './reach-target.ts'

const cases: readonly (readonly [text: string, shown: string | undefined])[] = [
  ['pod/b:80', 'pod/b:80'],
  ['pod/blue/b:http', 'pod/blue/b:http'],
  ['po/home/b:80', 'pod/b:80'],
  ['svc/web', 'service/web'],
  ['service/blue/web:dns/udp', 'service/blue/web:dns/UDP'],
  ['10.1.2.3:80', '10.1.2.3:80/TCP'],
  ['[fd00::1]:53/UDP', '[fd00::1]:53/UDP'],
  ['10.1.2.3', undefined],
  ['10.1.2.3:http', undefined],
  ['10.1.2.300:80', undefined],
  ['pod/b:0', undefined],
  ['pod/b:65536', undefined],
  ['pod/b:80/icmp', undefined],
  ['pod/b:--', undefined],
  ['node/n:80', undefined],
  ['web:80', undefined],
  ['', undefined],
]
for (const [text, shown] of cases)
  test(`the target ${JSON.stringify(text)}`, () => {
    const target = parseReachTarget(text, 'home')
    deepEqual(target === undefined ? undefined : targetText(target, 'home'), shown)
  })
