import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { checkSysctlPattern, sysctlRejection } from './sysctl-admission.ts'

const cases: [why: string, sysctls: string[], allowed: string[], forbidden: string | undefined][] = [
  ['no sysctl', [], [], undefined],
  ['a safe sysctl', ['kernel.shm_rmid_forced', 'net.ipv4.tcp_rmem'], [], undefined],
  ['an unsafe sysctl', ['kernel.msgmax'], [], 'kernel.msgmax'],
  ['the first of two', ['net.ipv4.tcp_rmem', 'fs.mount-max', 'kernel.msgmax'], [], 'fs.mount-max'],
  ['an allowed name', ['kernel.msgmax'], ['kernel.msgmax'], undefined],
  ['an allowed name is not a prefix', ['kernel.msgmax2'], ['kernel.msgmax'], 'kernel.msgmax2'],
  ['an allowed pattern', ['kernel.msgmax'], ['kernel.msg*'], undefined],
  ['another pattern', ['kernel.sem'], ['kernel.msg*'], 'kernel.sem'],
  ['slashes as separators', ['net/ipv4/tcp_rmem', 'kernel/msgmax'], [], 'kernel.msgmax'],
  ['a dot in a part of the name', ['net.ipv4.conf.eth0/1.forwarding'], ['net/ipv4/conf/eth0.1/*'], undefined],
]
for (const [why, sysctls, allowed, forbidden] of cases)
  test(`admission of sysctls: ${why}`, () => {
    const given = sysctls.map((name) => ({ name, value: '1' }))
    const found = sysctlRejection({ securityContext: given.length === 0 ? {} : { sysctls: given } }, allowed)
    const wanted = forbidden && `SysctlForbidden forbidden sysctl: "${forbidden}" not allowlisted`
    equal(found && `${found.reason} ${found.message}`, wanted)
  })

const patterns: [pattern: string, message: RegExp | undefined][] = [
  ['net.core.*', undefined],
  ['net/core/somaxconn', undefined],
  ['kernel.msg*', undefined],
  ['kernel.sem', undefined],
  ['kernel.*', /^the sysctls "kernel\.\*" are not known to be namespaced$/],
  ['vm.swappiness', /^the sysctls "vm\.swappiness" are not known to be namespaced$/],
  ['net.*.forwarding', /^sysctl "net\.\*\.forwarding" must have at most 253 characters and match regex /],
  [`net.${'a'.repeat(250)}`, /must have at most 253 characters/],
]
for (const [pattern, message] of patterns)
  test(`the sysctl pattern ${pattern.slice(0, 20)} is ${message === undefined ? 'valid' : 'rejected'}`, () => {
    if (message === undefined) equal(checkSysctlPattern(pattern), pattern)
    else throws(() => checkSysctlPattern(pattern), { message })
  })
