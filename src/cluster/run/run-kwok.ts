// kwok in its own process.
import type { KwokSettings } from '../../kwok/kwok.ts'
import { kwokComponent } from '../components/kwok.ts'
import { runComponent, type ComponentProcessOptions } from './run-component.ts'

export interface RunKwokOptions extends KwokSettings, ComponentProcessOptions {
  readonly onReady?: () => void
}

/** Runs until the signal is aborted; throws when a task fails or the lease is lost. */
export const runKwok = (options: RunKwokOptions, signal: AbortSignal): Promise<void> =>
  runComponent(kwokComponent(options), options, signal)
