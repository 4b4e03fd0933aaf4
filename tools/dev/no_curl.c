// Stands in for libcurl in a wheel. Debian's HDF5 can read from Amazon S3 and needs curl for that, which
// brings 26 libraries for networks. Farfield opens files of the disk alone, so that nothing calls these
// functions; a call says that the feature was not built in.
enum { not_built_in = 4 }; // CURLE_NOT_BUILT_IN

int curl_global_init(long flags) {
    (void)flags;
    return not_built_in;
}
void curl_global_cleanup(void) {}

void* curl_easy_init(void) { return 0; }
void curl_easy_cleanup(void* handle) { (void)handle; }
int curl_easy_setopt(void* handle, int option, ...) {
    (void)handle, (void)option;
    return not_built_in;
}
int curl_easy_perform(void* handle) {
    (void)handle;
    return not_built_in;
}

void* curl_slist_append(void* list, const char* text) {
    (void)list, (void)text;
    return 0;
}
void curl_slist_free_all(void* list) { (void)list; }
