// CacheCounts: what one watch cache has done since its start, as plain numbers.

export interface CacheCounts {
  /** Changes from the store. */
  received: number
  /** Events passed to watchers. */
  dispatched: number
  /** How often the cache was filled. */
  initializations: number
  /** Events of the state at the start of a watch. */
  initialEvents: number
  /** LIST requests, with the objects that they visited and those that they returned. */
  lists: number
  fetched: number
  returned: number
  /** Reads that required a revision and found it, without waiting. */
  freshReads: number
  /** LIST requests for the newest state, and those of them for which it did not come in time. */
  consistentLists: number
  staleLists: number
  /** Notifications of the store that a revision has been reached, without a change. */
  bookmarks: number
}

export const newCacheCounts = (): CacheCounts => ({
  received: 0,
  dispatched: 0,
  initializations: 0,
  initialEvents: 0,
  lists: 0,
  fetched: 0,
  returned: 0,
  freshReads: 0,
  consistentLists: 0,
  staleLists: 0,
  bookmarks: 0,
})
