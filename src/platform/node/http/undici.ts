// undici, which is loaded on first use because that takes 80 ms. It is loaded synchronously: a virtual clock does not wait
// for a file to be read.
import { createRequire } from 'node:module'
import type * as Undici from 'undici'

let loaded: typeof Undici | undefined

export const undici = (): typeof Undici => (loaded ??= createRequire(import.meta.url)('undici') as typeof Undici)
