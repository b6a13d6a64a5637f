import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ownProgram, runningProgram } from './own-program.ts'

const checkout = { COXSWAIN_CHECKOUT: '/opt/coxswain' }
const ofPackage = [process.execPath, ...process.execArgv, process.argv[1] ?? '']

test('an executable is started by its path alone, also below a checkout', () => {
  deepEqual(runningProgram(true), [process.execPath])
  deepEqual(ownProgram(checkout, true), [process.execPath])
})

test('a checkout is started by its launcher, and again as it is running', () => {
  deepEqual(ownProgram(checkout, false), ['/opt/coxswain/bin/coxswain'])
  deepEqual(runningProgram(false), ofPackage)
})

test('a package is started by this Node.js', () => deepEqual(ownProgram({}, false), ofPackage))
