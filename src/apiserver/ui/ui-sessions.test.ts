import { equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { userWithName, type User } from '../request/request.ts'
import { codesMax, sessionsMax, UiSessions } from './ui-sessions.ts'

const jane = userWithName('jane', ['developers'])

function newSessions() {
  const clock = new VirtualClock()
  const digest = (text: string) => nodeCrypto.sha256(text).toHex()
  return { clock, sessions: new UiSessions({ clock, random: seededRandom(1), digest }) }
}

const opened = (sessions: UiSessions, user = jane): string => sessions.open(sessions.issueCode(user)) ?? ''

test('a code opens one session of its user', () => {
  const { sessions } = newSessions()
  const code = sessions.issueCode(jane)
  const token = sessions.open(code) ?? ''
  equal(sessions.userOf(token), jane)
  notEqual(token, code)
  equal(token.length, 43)
  equal(sessions.open(code), undefined)
  equal(sessions.userOf(code), undefined)
})

test('a code is valid for a minute, a session for eight hours', async () => {
  const { sessions, clock } = newSessions()
  const early = sessions.issueCode(jane)
  const late = sessions.issueCode(jane)
  await clock.advance('59s')
  const token = sessions.open(early) ?? ''
  await clock.advance('1s')
  equal(sessions.open(late), undefined)
  await clock.advance('7h')
  equal(sessions.userOf(token), jane)
  await clock.advance('1h')
  equal(sessions.userOf(token), undefined)
})

test('a session that was closed is unknown; others remain', () => {
  const { sessions } = newSessions()
  const one = opened(sessions)
  const two = opened(sessions)
  sessions.close(one)
  sessions.close('unknown')
  equal(sessions.userOf(one), undefined)
  equal(sessions.userOf(two), jane)
})

test('the oldest codes and sessions of a user end beyond the limits of one user', () => {
  const { sessions } = newSessions()
  const first = opened(sessions)
  const others = Array.from({ length: sessionsMax.perOwner }, () => opened(sessions))
  equal(sessions.userOf(first), undefined)
  equal(others.filter((token) => sessions.userOf(token) === jane).length, sessionsMax.perOwner)
  const codes = Array.from({ length: codesMax.perOwner + 1 }, () => sessions.issueCode(jane))
  equal(sessions.open(codes[0] ?? ''), undefined)
  equal(codes.filter((code) => sessions.open(code) !== undefined).length, codesMax.perOwner)
})

const intruders: [what: string, userOf: (index: number) => User][] = [
  ['one user', () => userWithName('mallory')],
  ['the ServiceAccounts of one namespace', (index) => userWithName(`system:serviceaccount:mallory:a${index}`)],
]
for (const [what, userOf] of intruders)
  test(`${what} cannot end the sessions and codes of others`, () => {
    const { sessions } = newSessions()
    const token = opened(sessions)
    const code = sessions.issueCode(jane)
    for (let index = 0; index < 2 * sessionsMax.total; index++) opened(sessions, userOf(index))
    for (let index = 0; index < 2 * codesMax.total; index++) sessions.issueCode(userOf(index))
    equal(sessions.userOf(token), jane)
    notEqual(sessions.open(code), undefined)
  })

test('beyond the limit of all, the oldest session of the user with the most ends', () => {
  const { sessions } = newSessions()
  const token = opened(sessions)
  const [oldest = ''] = Array.from({ length: 3 }, () => opened(sessions, userWithName('many')))
  for (let index = 0; index < sessionsMax.total - 4; index++) opened(sessions, userWithName(`user-${index}`))
  equal(sessions.userOf(oldest)?.name, 'many')
  opened(sessions, userWithName('new'))
  equal(sessions.userOf(oldest), undefined)
  equal(sessions.userOf(token), jane)
})
