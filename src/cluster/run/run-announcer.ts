// An announcer in its own process.
import { announcerComponent, type AnnouncerSettings } from '../components/announcer.ts'
import { runComponent, type ComponentProcessOptions } from './run-component.ts'

export interface RunAnnouncerOptions extends AnnouncerSettings, Pick<ComponentProcessOptions, 'kubeconfig' | 'log'> {}

/** Runs until the signal is aborted. The addresses are removed then. */
export const runAnnouncer = (options: RunAnnouncerOptions, signal: AbortSignal): Promise<void> =>
  runComponent(announcerComponent(options), options, signal)
