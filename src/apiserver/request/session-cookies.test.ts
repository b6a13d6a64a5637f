import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { withoutSessions } from './session-cookies.ts'

const cookie = (port: number) => `__Host-coxswain-ui-${port}`

test('sessions are removed from the cookies that other servers get', () => {
  equal(withoutSessions(`a=b; ${cookie(6443)}=secret; c=d`), 'a=b; c=d')
  equal(withoutSessions(`${cookie(6443)}=secret;${cookie(7443)}=other`), undefined)
})
