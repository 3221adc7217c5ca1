import { storeFaultTests } from '../../support/assert/store-fault-tests.js'
import { ObjectStore } from '../../support/fakes/object-store.js'

/** A real server is in test/clients/stores. */
storeFaultTests('a mirror in an object store behind a faulty network', () => ObjectStore.open())
