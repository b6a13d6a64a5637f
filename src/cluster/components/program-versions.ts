// The versions with which the components of this program stand in coordinated leader election.
import { serverVersion } from '../../apiserver/discovery/server-version.ts'
import type { ProgramVersions } from '../../client/coordinated-election/lease-candidacy.ts'

const { major, minor, gitVersion } = serverVersion

export const programVersions: ProgramVersions = {
  binaryVersion: gitVersion.slice(1),
  emulationVersion: `${major}.${minor}.0`,
}
